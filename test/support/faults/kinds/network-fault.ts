// Network faults that the fault proxy can make.

export type NetworkFault =
  /** Every piece of data arrives later. */
  | { kind: 'latency'; ms: number; jitterMs: number }
  /** Nothing arrives any more, and nothing says so; what was sent arrives when the fault is over. */
  | { kind: 'black hole' }
  /** Connections, old ones and new ones, are reset after this time. */
  | { kind: 'reset'; afterMs: number }
  /** Data arrive in pieces of this size at most, with a wait between them. */
  | { kind: 'slices'; bytes: number; waitMs: number }
  | { kind: 'bandwidth'; bytesPerSecond: number }
  /** A connection ends once this much went through it in one direction, wherever in a message that is. */
  | { kind: 'limit'; bytes: number }
  /** The end of a connection arrives late. */
  | { kind: 'slow close'; ms: number };
