// Carries a trace from the producer of a job to its worker.
import type { Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import { isTracing } from '../service/tracing.ts';

/** Options of a job that continues an earlier trace, see currentTrace; empty while tracing is off. */
export function jobTelemetry(traceparent: string | undefined): { telemetry?: { metadata: string } } {
  // As BullMQOtel writes it itself.
  return traceparent && isTracing() ? { telemetry: { metadata: JSON.stringify({ traceparent }) } } : {};
}

/** Options of a queue or a worker; empty while tracing is off. */
export function queueTelemetry(): { telemetry?: Telemetry } {
  return isTracing() ? { telemetry: new BullMQOtel({ tracerName: 'billhook' }) } : {};
}
