// Traces, as a collector gets them: one trace from the caller through the gateway and the queue to the renderer.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { callerOf } from '../support/gateway.ts';
import { type SpawnedService, spawnService } from '../support/spawn-service.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

interface CollectedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
}

const DOCUMENT = {
  title: 'Invoice',
  number: 'INV-0001',
  date: '2026-01-31',
  clientName: 'Ada Lovelace',
  clientEmail: 'ada@example.com',
  partnerName: 'Studio North',
  partnerEmail: 'hello@example.com',
  amount: 120,
  lineItems: [{ description: 'Design', qty: '1', rate: '120' }],
};

const spans: CollectedSpan[] = [];
let collector: Server;
let workspace: Workspace;
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
  running.push(await spawnService('gateway', workspace, env), await spawnService('renderer', workspace, env));
});
afterAll(async () => {
  await Promise.all(running.map((service) => service.stop()));
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

test('when a caller traces a document, then gateway, queue and renderer are spans of the same trace', async () => {
  const { key } = await workspace.account();
  const call = callerOf(running[0]?.url ?? '', key);
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

  const { status } = await call('POST', '/api/tools/generate-pdf', { body: DOCUMENT, headers: { traceparent } });

  expect(status).toBe(200);
  const own = await eventually(() => {
    const found = spans.filter((span) => span.traceId === traceId);
    const isWhole = ['billhook-gateway', 'billhook-renderer'].every((name) =>
      found.some(({ service }) => service === name),
    );
    return isWhole && found.some(({ name }) => name.startsWith('POST')) && found;
  });
  const request = own.find(({ name }) => name === 'POST /api/tools/generate-pdf');
  expect(request).toMatchObject({ service: 'billhook-gateway', parentSpanId: '00f067aa0ba902b7' });
  // The job's own span hangs below the one that put it in.
  const services = new Map(own.map(({ spanId, service }) => [spanId, service]));
  const crossings = own.filter((span) => services.get(span.parentSpanId ?? '') === 'billhook-gateway');
  expect(crossings.map(({ service }) => service)).toContain('billhook-renderer');
});
