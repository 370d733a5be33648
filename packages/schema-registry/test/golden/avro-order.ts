/** Written by Python's fastavro 1.13.1, `schemaless_writer`: an order, and one with that order inside it. */
export const fastavroOrder = {
  schema: {
    type: 'record',
    name: 'Order',
    namespace: 'shop',
    fields: [
      { name: 'id', type: 'long' },
      { name: 'customer', type: 'string' },
      { name: 'paid', type: 'boolean' },
      { name: 'total', type: 'double' },
      { name: 'weight', type: 'float' },
      { name: 'count', type: 'int' },
      { name: 'state', type: { type: 'enum', name: 'State', symbols: ['NEW', 'SENT'] } },
      { name: 'hash', type: { type: 'fixed', name: 'Hash', size: 4 } },
      { name: 'blob', type: 'bytes' },
      { name: 'tags', type: { type: 'array', items: 'string' } },
      { name: 'prices', type: { type: 'map', values: ['null', 'double'] } },
      { name: 'note', type: ['null', 'string'], default: null },
      { name: 'next', type: ['null', 'Order'], default: null },
    ],
  },
  values: {
    one: 'ffffffffffffffffff011a41646120c5816f76656c61636501000000000000f83f0000803e0d0200ff01fe04c0ff04026110c5bcc3b3c582c4870004046575027b14ae47e1fa2340047573000002086769667400',
    two: 'feffffffffffffffff011a41646120c5816f76656c61636501000000000000f83f0000803e0d0200ff01fe04c0ff04026110c5bcc3b3c582c4870004046575027b14ae47e1fa2340047573000002086769667402ffffffffffffffffff011a41646120c5816f76656c61636501000000000000f83f0000803e0d0200ff01fe04c0ff04026110c5bcc3b3c582c4870004046575027b14ae47e1fa2340047573000002086769667400',
  },
}
