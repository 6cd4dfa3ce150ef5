// Documents that are rejected before they are read: the response, the metrics and the one log line for many.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { makeMetrics } from '#libs/service/metrics.ts';
import { makeApp } from '../../../services/gateway/app.ts';
import type { PrintDocument } from '../../../services/gateway/printing/print-document.ts';
import { eventually } from '../../support/eventually.ts';
import { appOptionsFor, callerOf } from '../../support/gateway.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const PATH = '/api/tools/generate-pdf';
const lines: Record<string, unknown>[] = [];
const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
const metrics = makeMetrics();
const noRoom = () => ({ status: 503, message: 'No room', seconds: 7 });
const print = Object.assign(() => Promise.reject(new Error('a rejected document is never printed')), {
  admission: { rejection: noRoom, reserve: noRoom },
}) as unknown as PrintDocument;

let workspace: Workspace;
let server: Server;
let call: ReturnType<typeof callerOf>;

beforeAll(async () => {
  workspace = await openWorkspace();
  server = createServer(makeApp({ ...appOptionsFor(workspace), log, metrics, print }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { key } = await workspace.account();
  call = callerOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, key);
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await workspace.close();
});

test('when the queue is full, then the response has the envelope, the id and the headers of every response', async () => {
  const headers = { 'X-Request-Id': 'my-own-id-1' };

  const rejected = await call('POST', `${PATH}?dry_run=true`, { body: {}, headers });
  const other = await call('GET', '/api/v1/clients?limit=0', { headers });

  expect([rejected.status, rejected.body]).toEqual([503, { error: 'No room' }]);
  expect(rejected.headers.get('Retry-After')).toBe('7');
  for (const name of ['X-Request-Id', 'Content-Type', 'Content-Security-Policy', 'X-Content-Type-Options']) {
    expect([name, rejected.headers.get(name)]).toEqual([name, other.headers.get(name)]);
  }
});

test('when many are rejected, then all are counted by their route, and one log line covers many', async () => {
  const before = await rejectedSoFar();
  const linesBefore = loggedRejections();

  for (let count = 0; count < 30; count += 1) await call('POST', PATH, { body: {} });

  expect((await rejectedSoFar()) - before).toBe(30);
  await eventually(async () => loggedRejections() - linesBefore >= 30);
  expect(lines.filter((line) => 'req' in line && (line['res'] as { status: number }).status === 503)).toEqual([]);
});

test('when another method or path is called, then it is not rejected', async () => {
  const [wrongMethod, otherPath] = [await call('GET', PATH), await call('POST', `${PATH}/x`, { body: {} })];

  expect([wrongMethod.status, otherPath.status]).toEqual([405, 404]);
});

async function rejectedSoFar(): Promise<number> {
  const { values } = (await metrics.getSingleMetric('http_request_duration_seconds')?.get()) ?? { values: [] };
  const isIt = ({ metricName, labels }: { metricName?: string; labels: Record<string, unknown> }) =>
    metricName?.endsWith('_count') && labels['route'] === PATH && labels['status'] === 503;
  return values.find(isIt)?.value ?? 0;
}

function loggedRejections(): number {
  return lines.reduce((sum, { rejected }) => sum + (typeof rejected === 'number' ? rejected : 0), 0);
}
