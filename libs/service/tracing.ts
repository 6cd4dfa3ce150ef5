// Traces requests and jobs for an OpenTelemetry collector. Unless a collector is configured, it loads nothing and costs
// nothing.
import type { IncomingHttpHeaders } from 'node:http';
import type { Span } from '@opentelemetry/api';

const TRACER = 'billhook';

/** OpenTelemetry, loaded once there is a collector. */
let api: typeof import('@opentelemetry/api') | undefined;

/** True once startTracing has a collector. */
export function isTracing(): boolean {
  return api !== undefined;
}

/**
 * Starts tracing. Call it before queues and workers are opened.
 * @param endpoint of a collector that takes OTLP over HTTP, such as `http://collector:4318`. If it is absent, nothing
 * happens.
 * @returns a function that flushes the last spans and stops tracing.
 */
export async function startTracing(service: string, endpoint: string | undefined): Promise<() => Promise<void>> {
  if (!endpoint) return async () => undefined;
  const [
    loaded,
    { AsyncLocalStorageContextManager },
    { W3CTraceContextPropagator },
    { OTLPTraceExporter },
    resources,
    sdk,
  ] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/core'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace'),
  ]);
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': `billhook-${service}` }),
    // An unavailable collector costs spans, never requests: spans wait in a bounded queue and are then dropped.
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  loaded.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  loaded.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  loaded.trace.setGlobalTracerProvider(provider);
  api = loaded;
  return () => provider.shutdown();
}

/**
 * Returns the W3C `traceparent` of the current span, to continue it in another process. Undefined when tracing is off.
 */
export function currentTrace(): string | undefined {
  if (!api) return undefined;
  const carrier: { traceparent?: string } = {};
  api.propagation.inject(api.context.active(), carrier);
  return carrier.traceparent;
}

/**
 * Runs `work`, and everything it starts, in the span of a request. A `traceparent` header joins it to the caller's trace.
 * @throws Error while tracing is off.
 */
export function inRequestSpan(
  request: { method: string; headers: IncomingHttpHeaders; id: string },
  work: (span: Span) => void,
): void {
  const { context, propagation, SpanKind, trace } = loadedApi();
  const caller = propagation.extract(context.active(), request.headers);
  const attributes = { 'http.request.method': request.method, 'billhook.request_id': request.id };
  const span = trace.getTracer(TRACER).startSpan(request.method, { kind: SpanKind.SERVER, attributes }, caller);
  context.with(trace.setSpan(caller, span), () => work(span));
}

/** Ends the span of a request. @param route the pattern, never the path, because it names the span. */
export function endRequestSpan(
  span: Span,
  { method, route, status }: { method: string; route: string; status: number },
) {
  span.updateName(`${method} ${route}`);
  span.setAttributes({ 'http.route': route, 'http.response.status_code': status });
  if (status >= 500) span.setStatus({ code: loadedApi().SpanStatusCode.ERROR });
  span.end();
}

function loadedApi() {
  if (!api) throw new Error('tracing is off');
  return api;
}
