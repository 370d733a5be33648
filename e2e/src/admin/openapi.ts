import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'

/**
 * What is wrong with the JSON body of an answer by the OpenAPI document that the server gives of itself; null when nothing is.
 * `path` is as the document has it: `/admin/groups/{id}`.
 */
export async function problemsByOpenApi(
  adminUrl: string,
  path: string,
  body: unknown,
  { method = 'get', status = 200 }: { readonly method?: 'get' | 'post'; readonly status?: number } = {},
): Promise<readonly ErrorObject[] | null> {
  const document = (await (await fetch(`${adminUrl}/admin/openapi.json`)).json()) as object
  const ajv = new Ajv2020({ allErrors: true, strict: false })
  ajv.addSchema({ ...document, $id: 'openapi' })
  const keys = ['paths', path, method, 'responses', `${status}`, 'content', 'application/json', 'schema']
  const pointer = keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')))
  const validate = ajv.getSchema(`openapi#/${pointer.join('/')}`)
  if (validate === undefined) throw new Error(`the document does not describe ${path}`)
  return validate(body) ? null : (validate.errors ?? [])
}
