export { objectStoreConformance } from './conformance/object-store-conformance.ts'
export { segmentStoreConformance } from './conformance/segment-store-conformance.ts'
