// The decision on an attempt that asks to call an endpoint: admitted, or a time to wait.
import type { AttemptOutcome } from './endpoint-attempts.ts';

export interface Wait {
  waitMs: number;
  /** True when the breaker is the reason, false when the limit is. */
  isOpen: boolean;
}

export interface Admitted {
  admitted: true;
  /** Releases the admission. @param outcome absent when no attempt was made. */
  release: (outcome?: AttemptOutcome) => { recovered: boolean };
}

export type DeliveryAdmission = Admitted | ({ admitted: false } & Wait);
