import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { objectStoreConformance, segmentStoreConformance } from '@pico/storage/conformance'
import { withFaults } from '@pico/storage/faults'
import { openFileStore } from '@pico/storage/file'
import { openMemoryStore } from '@pico/storage/memory'
import { afterAll, describe } from 'vitest'

const folders: string[] = []

async function openInNewFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'pico-storage-'))
  folders.push(folder)
  return openFileStore(folder)
}

afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))))

const stores = [
  { name: 'memory', open: async () => openMemoryStore() },
  { name: 'file', open: openInNewFolder },
  { name: 'faults with an empty plan, over memory', open: async () => withFaults(openMemoryStore()) },
  { name: 'faults with an empty plan, over files', open: async () => withFaults(await openInNewFolder()) },
]

describe.each(stores)('$name object store', ({ open }) => objectStoreConformance(open))
describe.each(stores)('$name segment store', ({ open }) => segmentStoreConformance(open))
