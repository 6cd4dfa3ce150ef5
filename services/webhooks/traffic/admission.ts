// The decision on an attempt that asks to call an endpoint: admitted, or how long to wait.
import type { AttemptOutcome } from './endpoint-attempts.ts';

export interface Wait {
  waitMs: number;
  /** Because of the breaker, not because the limit is reached. */
  isOpen: boolean;
}

export interface Admitted {
  admitted: true;
  /** @param outcome absent when no attempt was made. */
  release: (outcome?: AttemptOutcome) => { recovered: boolean };
}

export type Admission = Admitted | ({ admitted: false } & Wait);
