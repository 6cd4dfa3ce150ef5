// Carries a trace from who puts a job in to who works on it.
import type { Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import { isTracing } from '../service/tracing.ts';

/** The options of a job that goes on with a trace of earlier, see currentTrace; empty while nobody traces. */
export function jobTelemetry(traceparent: string | undefined): { telemetry?: { metadata: string } } {
  // As BullMQOtel writes it itself.
  return traceparent && isTracing() ? { telemetry: { metadata: JSON.stringify({ traceparent }) } } : {};
}

/** The options of a queue or a worker; empty while nobody traces, so that jobs stay as they are. */
export function queueTelemetry(): { telemetry?: Telemetry } {
  return isTracing() ? { telemetry: new BullMQOtel({ tracerName: 'billhook' }) } : {};
}
