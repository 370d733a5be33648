import assert from 'node:assert/strict'
import { StoreFailedError } from './errors.ts'
import { FaultControl, injectedError } from './faults/fault-control.ts'
import type { Fault, FaultPlan, FaultRule, StoreOperation } from './faults/fault-plan.ts'
import { FaultySegment } from './faults/faulty-segment.ts'
import type { ByteRange, ObjectBody, ObjectInfo, ObjectStore, PutOptions, StoreCallOptions } from './object-store.ts'
import type { CreateOptions, SegmentStore, SegmentWriter } from './segment-store.ts'

export type { Fault, FaultClock, FaultHook, FaultPlan, FaultRule, StoreOperation } from './faults/fault-plan.ts'

export interface FaultInjection {
  /** One more rule from now on. Where several apply to a call, the oldest decides. */
  inject(rule: FaultRule): void
  /** No rule any more, and what hangs goes on; latency and bandwidth stay. */
  heal(): void
  /** Bytes per second from now on; undefined for no limit. */
  limit(bytesPerSecond: number | undefined): void
}

/**
 * `store` with the faults of `plan`, for tests of what is above it: the real store does the work, and calls fail, hang, tear or
 * crawl as the plan says. Deterministic by its seed. With an empty plan it is the store itself.
 */
export function withFaults(
  store: ObjectStore & SegmentStore,
  plan?: FaultPlan,
): ObjectStore & SegmentStore & FaultInjection
export function withFaults(store: ObjectStore, plan?: FaultPlan): ObjectStore & FaultInjection
export function withFaults(
  store: ObjectStore & Partial<SegmentStore>,
  plan: FaultPlan = {},
): ObjectStore & SegmentStore & FaultInjection {
  return new FaultyStore(store, new FaultControl(plan))
}

class FaultyStore implements ObjectStore, SegmentStore, FaultInjection {
  readonly #inner: ObjectStore & Partial<SegmentStore>
  readonly #control: FaultControl

  constructor(inner: ObjectStore & Partial<SegmentStore>, control: FaultControl) {
    this.#inner = inner
    this.#control = control
  }

  inject(rule: FaultRule): void {
    this.#control.inject(rule)
  }

  heal(): void {
    this.#control.heal()
  }

  limit(bytesPerSecond: number | undefined): void {
    this.#control.limit(bytesPerSecond)
  }

  async put(key: string, body: ObjectBody, options: PutOptions = {}): Promise<void> {
    await this.#call('put', [key], options.signal, async () => {
      const { signal } = options
      if (Symbol.asyncIterator in body) return this.#inner.put(key, this.#slowed(body, signal), options)
      await this.#control.transfer(lengthOf(body), signal)
      return this.#inner.put(key, body, options)
    })
  }

  async get(key: string, range?: ByteRange, options: StoreCallOptions = {}): Promise<Uint8Array> {
    return this.#call('get', [key], options.signal, async (fault) => {
      const bytes = await this.#inner.get(key, range, options)
      await this.#control.transfer(bytes.length, options.signal)
      return fault?.kind === 'altered' ? this.#alter(bytes) : bytes
    })
  }

  async delete(keys: readonly string[], options: StoreCallOptions = {}): Promise<void> {
    await this.#call('delete', keys, options.signal, () => this.#inner.delete(keys, options))
  }

  async *list(
    prefix: string,
    options: StoreCallOptions & { readonly after?: string } = {},
  ): AsyncGenerator<ObjectInfo> {
    const fault = await this.#control.begin('list', [prefix], options.signal)
    if (fault?.kind === 'fail-before') throw failure('list', prefix, fault)
    yield* this.#inner.list(prefix, options)
    await this.#control.end('list', [prefix])
    if (fault?.kind === 'fail-after') throw failure('list', prefix, fault)
  }

  async create(key: string, sizeBytes: number, options?: CreateOptions): Promise<SegmentWriter> {
    const { create } = this.#inner
    assert(create !== undefined, 'the store has no segments')
    const segment = await this.#call('create', [key], undefined, () =>
      create.call(this.#inner, key, sizeBytes, options),
    )
    return new FaultySegment(segment, this.#control)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  async #call<T>(
    operation: StoreOperation,
    keys: readonly string[],
    signal: AbortSignal | undefined,
    effect: (fault: Fault | null) => Promise<T>,
  ): Promise<T> {
    const fault = await this.#control.begin(operation, keys, signal)
    const key = keys.join(', ')
    if (fault?.kind === 'fail-before') throw failure(operation, key, fault)
    const result = await effect(fault)
    await this.#control.end(operation, keys)
    if (fault?.kind === 'fail-after') throw failure(operation, key, fault)
    return result
  }

  async *#slowed(body: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    for await (const part of body) {
      await this.#control.transfer(part.length, signal)
      yield part
    }
  }

  #alter(bytes: Uint8Array): Uint8Array {
    const altered = Uint8Array.from(bytes)
    const at = this.#control.draw(altered.length)
    altered[at] = (altered[at] ?? 0) ^ (1 << this.#control.draw(8))
    return altered
  }
}

function failure(operation: StoreOperation, key: string, fault: { readonly code?: string }): StoreFailedError {
  return new StoreFailedError(operation, key, { cause: injectedError(fault, operation) })
}

function lengthOf(buffers: readonly Uint8Array[]): number {
  return buffers.reduce((sum, buffer) => sum + buffer.length, 0)
}
