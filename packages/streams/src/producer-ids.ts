import type { NodeRegistry } from '@pico/metadata'

/** Gives out producer ids from blocks reserved in SQL. */
export class ProducerIds {
  readonly #nodes: NodeRegistry
  readonly #blockSize: number
  #next = 0
  #end = 0
  #reserving: Promise<void> | null = null

  constructor(nodes: NodeRegistry, blockSize: number) {
    this.#nodes = nodes
    this.#blockSize = blockSize
  }

  async allocate(): Promise<number> {
    while (this.#next === this.#end) {
      this.#reserving ??= this.#reserve()
      await this.#reserving
    }
    return this.#next++
  }

  async #reserve(): Promise<void> {
    try {
      this.#next = await this.#nodes.reserve('producerId', this.#blockSize)
      this.#end = this.#next + this.#blockSize
    } finally {
      this.#reserving = null
    }
  }
}
