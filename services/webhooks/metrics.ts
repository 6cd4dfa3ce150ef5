// What an operator watches: how attempts end and how long they take.
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Outcome } from './post-signed.ts';

/** @returns what is called after each attempt. */
export function observeWebhooks(metrics: Registry): (outcome: Outcome) => void {
  const attempts = new Counter({
    name: 'billhook_webhook_attempts_total',
    help: 'Attempts to deliver an event, by how they ended',
    labelNames: ['outcome'] as const,
    registers: [metrics],
  });
  const duration = new Histogram({
    name: 'billhook_webhook_attempt_seconds',
    help: 'How long an attempt took until the head of the answer',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers: [metrics],
  });
  return ({ isWell, errorClass = 'status', durationMs }) => {
    attempts.inc({ outcome: isWell ? 'delivered' : errorClass });
    duration.observe(durationMs / 1_000);
  };
}
