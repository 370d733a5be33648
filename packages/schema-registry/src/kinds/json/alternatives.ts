import { _, type CodeKeywordDefinition } from 'ajv/dist/2020.js'

/**
 * `anyOf` and `oneOf` that forget at once why a value is not as one of their schemas wants it: only what is wrong with all of them is
 * told. ajv keeps all of it, and copies it at each reference, so that choices within choices take memory by the gigabyte.
 */
export const alternatives: readonly CodeKeywordDefinition[] = [
  {
    keyword: 'anyOf',
    schemaType: 'array',
    trackErrors: true,
    error: { message: 'must match a schema in anyOf' },
    code(context) {
      const { gen, schema } = context
      const valid = gen.let('valid', false)
      const isOne = gen.name('_valid')
      gen.block(() => {
        for (const index of schema.keys()) {
          context.subschema({ keyword: 'anyOf', schemaProp: index, compositeRule: true, createErrors: false }, isOne)
          gen.assign(valid, isOne)
          context.reset()
          gen.if(_`!${valid}`)
        }
      })
      context.result(
        valid,
        () => {},
        () => context.error(true),
      )
    },
  },
  {
    keyword: 'oneOf',
    schemaType: 'array',
    trackErrors: true,
    error: { message: 'must match exactly one schema in oneOf' },
    code(context) {
      const { gen, schema } = context
      const count = gen.let('valid', 0)
      const isOne = gen.name('_valid')
      gen.block(() => {
        for (const index of schema.keys()) {
          context.subschema({ keyword: 'oneOf', schemaProp: index, compositeRule: true, createErrors: false }, isOne)
          gen.if(isOne, () => gen.code(_`${count}++`))
          context.reset()
          gen.if(_`${count} < 2`)
        }
      })
      context.result(
        _`${count} === 1`,
        () => {},
        () => context.error(true),
      )
    },
  },
]
