import { _, type CodeKeywordDefinition, str } from 'ajv/dist/2020.js'

/**
 * `maxLength` and `minLength`, which count code points. ajv counts them in every string; here only in those whose length in UTF-16,
 * which is between once and twice as much, does not tell already.
 */
export const stringLengths: readonly CodeKeywordDefinition[] = [
  {
    keyword: 'maxLength',
    type: 'string',
    schemaType: 'number',
    error: { message: ({ schema }) => str`must NOT have more than ${schema} characters` },
    code(context) {
      const { gen, data, schema } = context
      const count = gen.scopeValue('func', { ref: codePoints })
      context.fail(_`${data}.length > ${schema} && ${count}(${data}) > ${schema}`)
    },
  },
  {
    keyword: 'minLength',
    type: 'string',
    schemaType: 'number',
    error: { message: ({ schema }) => str`must NOT have fewer than ${schema} characters` },
    code(context) {
      const { gen, data, schema } = context
      const count = gen.scopeValue('func', { ref: codePoints })
      context.fail(_`${data}.length < ${schema * 2} && ${count}(${data}) < ${schema}`)
    },
  },
]

/** A surrogate without its other half counts as one. */
function codePoints(text: string): number {
  let count = text.length
  for (let i = 1; i < text.length; i++) {
    const isPair = isBetween(text.charCodeAt(i - 1), 0xd800, 0xdbff) && isBetween(text.charCodeAt(i), 0xdc00, 0xdfff)
    if (isPair) count--
  }
  return count
}

function isBetween(code: number, from: number, to: number): boolean {
  return code >= from && code <= to
}
