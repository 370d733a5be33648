import { expect, it } from 'vitest'
import { openApiDocument } from '../../src/index.ts'
import { openedSchemaSystem } from '../schemas/schema-system.ts'
import { Described } from './described.ts'

const common =
  /^(content-type|content-length|date|connection|keep-alive|cache-control|x-content-type-options|cross-origin-resource-policy)$/

it('the OpenAPI document describes what is answered about schemas', async () => {
  const { ask, url } = await openedSchemaSystem()
  const adminUrl = 'http://127.0.0.1:9090'
  const described = new Described(openApiDocument({ version: '1.2.3', adminUrl, picoUrl: url }))
  /** Sends it, and holds the answer against the document. */
  const expectStatus = async (status: number, method: string, path: string, target: string, body?: string) => {
    const answer = await ask(method, `${url}${target}`, body, { 'content-type': 'application/json' })
    const what = `${method} ${target}`
    expect([what, answer.status]).toEqual([what, status])
    const { headers = {}, content } = described.response(method.toLowerCase(), path, status)
    const known = Object.keys(headers).map((name) => name.toLowerCase())
    expect([...answer.headers.keys()].filter((name) => !common.test(name) && !known.includes(name))).toEqual([])
    expect(answer.text === '' || content !== undefined).toBe(true)
    if (answer.headers.get('content-type') !== 'application/json') return
    const validate = described.answer(method.toLowerCase(), path, status)
    validate(answer.json)
    expect([what, validate.errors]).toEqual([what, null])
  }
  const [all, name, version] = ['/_schemas', '/_schemas/{schema}', '/_schemas/{schema}/{version}']
  await expectStatus(201, 'PUT', name, '/_schemas/a', '{"type":"string"}')
  await expectStatus(200, 'PUT', name, '/_schemas/a', '{"type":"string"}')
  await expectStatus(409, 'PUT', name, '/_schemas/a', '{"type":"integer"}')
  await expectStatus(422, 'PUT', name, '/_schemas/a', '{"type":1}')
  await expectStatus(400, 'PUT', name, '/_schemas/a?kind=x', '{}')
  await expectStatus(201, 'PUT', name, '/_schemas/b?compatibility=none', '{}')
  await expectStatus(200, 'GET', all, '/_schemas')
  await expectStatus(400, 'GET', all, '/_schemas?limit=x')
  await expectStatus(200, 'GET', name, '/_schemas/a')
  await expectStatus(200, 'GET', name, '/_schemas/a?format=json')
  await expectStatus(404, 'GET', name, '/_schemas/c')
  await expectStatus(200, 'GET', version, '/_schemas/a/1')
  await expectStatus(404, 'GET', version, '/_schemas/a/2')
  await expectStatus(200, 'GET', `${name}/versions`, '/_schemas/a/versions')
  await expectStatus(404, 'GET', `${name}/versions`, '/_schemas/c/versions')
  await expectStatus(200, 'POST', `${name}/check`, '/_schemas/a/check', '{"type":"integer"}')
  await expectStatus(422, 'POST', `${name}/check`, '/_schemas/a/check', '{')
  await ask('PUT', `${url}/bound`, undefined, { 'pico-schema': 'a' })
  await expectStatus(409, 'DELETE', name, '/_schemas/a')
  await expectStatus(409, 'DELETE', version, '/_schemas/a/1')
  await expectStatus(204, 'DELETE', version, '/_schemas/b/1')
  await expectStatus(404, 'DELETE', version, '/_schemas/b/1')
  await expectStatus(404, 'DELETE', name, '/_schemas/c')
})
