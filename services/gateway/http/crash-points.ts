// The steps of a write at which a test may end the gateway; apart, so that reading the configuration loads no database.
import type { WorkStep } from '#libs/billing/unit-of-work.ts';

/** The steps of a write, in their order: where a test may end the process. */
export const CRASH_POINTS = [
  'after-counter',
  'after-ledger',
  'before-event',
  'after-event',
  'after-idempotency-record',
  'before-commit',
  'after-commit',
] as const satisfies readonly (WorkStep | 'after-idempotency-record')[];

export type CrashPoint = (typeof CRASH_POINTS)[number];
