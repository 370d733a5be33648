import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

export interface OpenApi {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
}

interface OpenApiOperation {
  readonly responses: Readonly<Record<string, OpenApiResponse>>
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> }
}

interface OpenApiResponse {
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, { readonly schema?: unknown }>>
}

/** A document, and whether it describes what it is shown. */
export class Described {
  readonly document: OpenApi
  readonly #ajv = new Ajv2020({ allErrors: true, strict: false })

  constructor(document: object) {
    this.document = document as OpenApi
    this.#ajv.addSchema({ ...document, $id: 'openapi' } as object)
  }

  /** The schema of a JSON answer. A status that is only covered by `default` is none. */
  answer(method: string, path: string, status: number): ValidateFunction {
    return this.#schema(['paths', path, method, 'responses', String(status), 'content', 'application/json', 'schema'])
  }

  request(method: string, path: string, mediaType: string): ValidateFunction {
    return this.#schema(['paths', path, method, 'requestBody', 'content', mediaType, 'schema'])
  }

  response(method: string, path: string, status: number): OpenApiResponse {
    const found = this.document.paths[path]?.[method]?.responses[String(status)]
    if (found === undefined) throw new Error(`the document does not know ${method} ${path} answering ${status}`)
    return found
  }

  #schema(keys: readonly string[]): ValidateFunction {
    const pointer = keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')))
    const found = this.#ajv.getSchema(`openapi#/${pointer.join('/')}`)
    if (found === undefined) throw new Error(`the document has no schema at ${keys.join(' ')}`)
    return found
  }
}
