import type { Judged, SchemaEncoding, SchemaProblem, SchemaSource } from '../schema.ts'

/** What a worker is asked to do, one thing at a time. */
export type Work =
  | { readonly kind: 'compile'; readonly source: SchemaSource }
  | { readonly kind: 'incompatibilities'; readonly reader: SchemaSource; readonly writer: SchemaSource }
  /** A `.proto` file as serialized descriptor in base64. */
  | { readonly kind: 'descriptor'; readonly source: SchemaSource }
  /** A serialized descriptor in base64 as `.proto` file. */
  | { readonly kind: 'protoText'; readonly text: string }
  | JudgeWork

export interface JudgeWork {
  readonly kind: 'judge'
  readonly schemaId: number
  /** Null if the worker has compiled it for earlier work, and not been told to forget it. */
  readonly source: SchemaSource | null
  /** Schemas that will not be asked for soon. */
  readonly forget: readonly number[]
  readonly encoding: SchemaEncoding
  readonly tombstonesPass: boolean
  readonly records: RecordsToJudge
}

export type RecordsToJudge =
  /** As it was produced. */
  | { readonly batch: Uint8Array }
  /** One after the other; a length of -1 is of a record without a value. */
  | { readonly values: Uint8Array; readonly lengths: Int32Array }

export interface Compiled {
  readonly problems: readonly SchemaProblem[]
  /** '' if there are problems. */
  readonly canonical: string
}

/** Of a file that can be told in terms of a descriptor, or why it cannot. */
export type ProtoDescriptor = { readonly descriptor: string } | { readonly problem: string }

/** What each kind of work comes to. */
export interface DoneWork {
  compile: Compiled
  incompatibilities: readonly SchemaProblem[]
  descriptor: ProtoDescriptor
  /** Null if the text is no descriptor. */
  protoText: string | null
  judge: Judged
}

export interface WorkerSettings {
  /** Values of JSON take many times their size once parsed; larger ones are refused. */
  readonly maxJsonValueBytes: number
  /** Shared with the thread that owns the worker: see `Progress`. */
  readonly progress: SharedArrayBuffer
}

export type ToWorker = { readonly jobId: number; readonly work: Work }
export type FromWorker =
  | { readonly kind: 'ready' }
  /** The schema is compiled: from now on it is the records that take time. */
  | { readonly kind: 'judging'; readonly jobId: number }
  /** `tookMs`: processor time, without that of compiling a schema that records are held to. */
  | { readonly kind: 'done'; readonly jobId: number; readonly done: DoneWork[keyof DoneWork]; readonly tookMs: number }
  /** The schema that records are to be held to does not compile, or a defect of ours. */
  | { readonly kind: 'failed'; readonly jobId: number; readonly error: unknown }

/** Where a worker is, for the thread that may have to end it: the only thing that can be read while the worker is busy. */
export class Progress {
  readonly shared: SharedArrayBuffer
  readonly #cells: Int32Array
  readonly #times: Float64Array

  constructor(shared = new SharedArrayBuffer(16)) {
    this.shared = shared
    this.#cells = new Int32Array(shared, 0, 2)
    this.#times = new Float64Array(shared, 8, 1)
  }

  /** Processor time that the worker had had when it began what it is doing: to compile, or to judge. */
  get startedMs(): number {
    return this.#times[0] ?? 0
  }

  set startedMs(ms: number) {
    this.#times[0] = ms
  }

  /** Of the record under judgement, counted from 0. */
  get recordIndex(): number {
    return Atomics.load(this.#cells, 0)
  }

  set recordIndex(index: number) {
    Atomics.store(this.#cells, 0, index)
  }

  /** The last job that is done, though its answer may still be on its way. */
  get doneJobId(): number {
    return Atomics.load(this.#cells, 1)
  }

  set doneJobId(jobId: number) {
    Atomics.store(this.#cells, 1, jobId)
  }
}
