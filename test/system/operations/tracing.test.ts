// Traces, as a collector gets them: one trace from the caller through the gateway, queue or outbox, to the renderer or the receiver.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { callerOf } from '../../support/gateway.ts';
import { pdfOf } from '../../support/pdf-body.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { type SpawnedService, spawnService } from '../../support/spawn-service.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

interface CollectedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
}

const DOCUMENT = pdfOf('Invoice');

const spans: CollectedSpan[] = [];
let collector: Server;
let workspace: Workspace;
let receiver: Receiver;
const running: SpawnedService[] = [];

beforeAll(async () => {
  workspace = await openWorkspace();
  collector = createServer((request, response) => {
    const collect = async () => {
      spans.push(...spansOf((await json(request)) as Exported));
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    };
    collect().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  receiver = await startReceiver();
  for (const service of ['gateway', 'renderer', 'webhooks'] as const) {
    running.push(await spawnService(service, workspace, { ...env, WEBHOOK_RETRY_SCALE: '0.001' }));
  }
});
afterAll(async () => {
  await Promise.all(running.map((service) => service.stop()));
  await receiver.close();
  collector.closeAllConnections();
  collector.close();
  await workspace.close();
});

interface Exported {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: Omit<CollectedSpan, 'service'>[] }[];
  }[];
}

function spansOf({ resourceSpans }: Exported): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
    return scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, service })));
  });
}

/**
 * Waits for a trace. A span ends before its parent, and may come in an earlier batch.
 * @returns its spans once each span's parent is the caller's, or one of them.
 */
function traceOf(traceId: string, caller: string, hasAll: (found: CollectedSpan[]) => boolean) {
  return eventually(() => {
    const found = spans.filter((span) => span.traceId === traceId);
    const known = new Set([...found.map(({ spanId }) => spanId), caller]);
    const orphans = found.filter(({ parentSpanId = '' }) => !known.has(parentSpanId));
    if (orphans.length > 0) throw new Error(`orphans: ${JSON.stringify(orphans)}`);
    return hasAll(found) && found;
  });
}

test('when a caller traces a document, then gateway, queue and renderer are spans of the same trace', async () => {
  const { key } = await workspace.account();
  const call = callerOf(running[0]?.url ?? '', key);
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

  const { status } = await call('POST', '/api/tools/generate-pdf', { body: DOCUMENT, headers: { traceparent } });

  expect(status).toBe(200);
  const own = await traceOf(traceId, '00f067aa0ba902b7', (found) => {
    const services = found.map(({ service }) => service);
    return services.includes('billhook-renderer') && found.some(({ name }) => name.startsWith('POST'));
  });
  const request = own.find(({ name }) => name === 'POST /api/tools/generate-pdf');
  expect(request).toMatchObject({ service: 'billhook-gateway', parentSpanId: '00f067aa0ba902b7' });
  // The job's own span is a child of the one that enqueued it.
  const services = new Map(own.map(({ spanId, service }) => [spanId, service]));
  const crossings = own.filter((span) => services.get(span.parentSpanId ?? '') === 'billhook-gateway');
  expect(crossings.map(({ service }) => service)).toContain('billhook-renderer');
});

test('when a caller traces a write, then event and deliveries, also repeated ones, are spans of the same trace', async () => {
  const { key } = await workspace.account();
  const call = callerOf(running[0]?.url ?? '', key);
  await call('POST', '/api/v1/webhooks', { body: { url: receiver.url, events: ['client.created'] } });
  receiver.answerWith(500, 503, 500);
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };

  const { status } = await call('POST', '/api/v1/clients', {
    body: { name: 'Ada', email: 'ada@example.com' },
    headers,
  });

  expect(status).toBe(201);
  await eventually(() => receiver.received.length >= 4);
  // No span is an orphan.
  const own = await traceOf(traceId, 'b7ad6b7169203331', (found) => {
    const attempts = found.filter(({ name }) => /(deliver|retry)-webhook/.test(name));
    return attempts.length >= 4 && found.some(({ name }) => name === 'POST /api/v1/clients');
  });
  const request = own.find(({ name }) => name === 'POST /api/v1/clients');
  expect(request).toMatchObject({ service: 'billhook-gateway', parentSpanId: 'b7ad6b7169203331' });
  // The outbox is not a queue of the gateway: the event stores the span of the request.
  const below = own.filter(({ parentSpanId }) => parentSpanId === request?.spanId);
  expect(new Set(below.map(({ service, name }) => `${service} ${name.split(' ').at(-1)}`))).toEqual(
    new Set(['billhook-webhooks fan-out-event', 'billhook-webhooks deliver-webhook']),
  );
});

test('when a caller sends no trace, then its request begins a trace of its own', async () => {
  const { key } = await workspace.account();
  const call = callerOf(running[0]?.url ?? '', key);

  await call('GET', '/api/v1/projects');

  const span = await eventually(() => spans.find(({ name }) => name === 'GET /api/v1/projects'));
  expect(span.parentSpanId ?? '').toBe('');
});
