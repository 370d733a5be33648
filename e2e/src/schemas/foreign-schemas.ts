/** Every type that Avro has, within each other. */
export const foreignAvro = JSON.stringify({
  type: 'record',
  name: 'Everything',
  namespace: 'foreign',
  fields: [
    { name: 'nothing', type: 'null' },
    { name: 'truth', type: 'boolean' },
    { name: 'small', type: 'int' },
    { name: 'large', type: 'long' },
    { name: 'short', type: 'float' },
    { name: 'exact', type: 'double' },
    { name: 'blob', type: 'bytes' },
    { name: 'text', type: 'string' },
    { name: 'shade', type: { type: 'enum', name: 'Shade', symbols: ['PLAIN', 'DARK', 'LIGHT'] } },
    { name: 'hash', type: { type: 'fixed', name: 'Hash', size: 16 } },
    { name: 'list', type: { type: 'array', items: ['null', 'string', 'Hash'] } },
    { name: 'map', type: { type: 'map', values: { type: 'array', items: 'long' } } },
    {
      name: 'inner',
      type: {
        type: 'record',
        name: 'Inner',
        fields: [
          { name: 'shade', type: 'Shade' },
          { name: 'choice', type: ['int', 'string', 'null', { type: 'map', values: 'Hash' }] },
        ],
      },
    },
    { name: 'inners', type: { type: 'array', items: 'Inner' } },
  ],
})

const scalars = [
  ...['double', 'float', 'int32', 'int64', 'uint32', 'uint64', 'sint32', 'sint64'],
  ...['fixed32', 'fixed64', 'sfixed32', 'sfixed64', 'bool', 'string', 'bytes'],
]

/** A field of each type, alone and repeated, and what else there is in proto3: as python/foreign_values.py has it. */
export const foreignProtobuf = `syntax = "proto3";
package foreign;
enum Shade { PLAIN = 0; DARK = 1; LIGHT = 2; }
message Everything {
${scalars.map((type, at) => `  ${type} one_${type} = ${at + 1};\n  repeated ${type} many_${type} = ${at + 21};`).join('\n')}
  Shade shade = 41;
  repeated Shade shades = 42;
  Everything inner = 43;
  repeated Everything inners = 44;
  map<string, int64> counts = 45;
  oneof choice { string word = 46; sint64 number = 1000; }
}
`
