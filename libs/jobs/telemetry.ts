// Carries a trace from the producer of a job to its worker.
import type { Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import { isTracing } from '../service/tracing.ts';

/** Returns the options of a job that continues an earlier trace, see currentTrace. Empty while tracing is off. */
export function jobTelemetry(traceparent: string | undefined): { telemetry?: { metadata: string } } {
  // BullMQOtel writes the same form.
  return traceparent && isTracing() ? { telemetry: { metadata: JSON.stringify({ traceparent }) } } : {};
}

/** Returns the options of a queue or a worker. Empty while tracing is off. */
export function queueTelemetry(): { telemetry?: Telemetry } {
  return isTracing() ? { telemetry: new BullMQOtel({ tracerName: 'billhook' }) } : {};
}
