// Responses of tens of megabytes: an account with many in flight waits, and no other does.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { driverOf } from '#libs/models/records.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { withErrors } from '../../support/mongodb-errors.ts';
import { create, createClient } from '../../support/records.ts';

const PAGE = 100;
const AT_ONCE = 4;
/** Eight pages of 26 MB, on two cores that other suites use as well. Only ends a hang. */
const PAGES_LIMIT_MS = 180_000;
/** A page arrives in less. */
const QUIET_MS = 3_000;
/** The error of a member that cannot reach the others. */
const TIME_LIMIT_EXCEEDED = 262;
/** The error of a query that took longer than it may. */
const MAX_TIME_EXPIRED = 50;
const PATH = `/api/v1/invoices?limit=${PAGE}`;

let gateway: TestGateway;
let sockets: Socket[] = [];
beforeAll(async () => {
  gateway = await startGateway();
  const { id: client_id } = await createClient(gateway);
  const line_items = Array.from({ length: 500 }, () => ({ description: 'x'.repeat(380), quantity: 1, rate: 10 }));
  const { id } = await create(gateway, '/api/v1/invoices', { client_id, due_date: '2031-01-01', line_items });
  const invoices = driverOf(Invoice);
  const one = await invoices.findOne({ _id: storedId(id), account_id: storedId(gateway.account.id) });
  const copies = Array.from({ length: PAGE - 1 }, (_, index) => ({
    ...one,
    _id: storedId(newId()),
    number: index + 2,
  }));
  await invoices.insertMany(copies as never);
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
});
afterAll(() => gateway.close());

/** Requests a page and reads no more than its first bytes. @returns how many bytes have arrived. */
function ask() {
  let bytes = 0;
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1', () =>
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.account.key}\r\n\r\n`),
  );
  socket.once('data', (chunk) => {
    bytes = chunk.length;
    socket.pause();
  });
  sockets.push(socket);
  return () => bytes;
}

test('when an account reads none of its large pages, then its next request waits for one of them, and other accounts do not wait', async () => {
  const begun = Array.from({ length: AT_ONCE }, ask);
  for (const bytes of begun) await eventually(() => bytes() > 0);
  const next = ask();
  const other = await gateway.workspace.account();

  expect((await gateway.get(PATH, other)).status).toBe(200);
  expect((await gateway.get('/api/v1/clients')).status).toBe(200);
  await pause(QUIET_MS);
  expect(next()).toBe(0);
  sockets[0]?.destroy();
  await eventually(() => next() > 0);
});

test(
  'when many callers request large pages and read them, then each gets its page',
  async () => {
    // On a slow machine some wait too long for others and get 429.
    const page = () =>
      eventually(async () => {
        const reply = await gateway.get(PATH);
        return reply.status !== 429 && reply;
      }, PAGES_LIMIT_MS);
    const pages = await Promise.all(Array.from({ length: 2 * AT_ONCE }, page));

    expect(pages.map(({ status, body }) => [status, body.data.length])).toEqual(pages.map(() => [200, PAGE]));
  },
  2 * PAGES_LIMIT_MS,
);

test.each([
  ['unavailable', TIME_LIMIT_EXCEEDED],
  ['too slow', MAX_TIME_EXPIRED],
])(
  'when the store is %s, then requests that wait behind the affected ones get 503 as well, and not 429',
  async (_state, errorCode) => {
    // The last request would begin after eighteen seconds, and waits for fifteen.
    const fault = {
      times: 1_000,
      failCommands: ['find', 'aggregate', 'count'],
      namespace: `${Invoice.db.name}.${Invoice.collection.name}`,
      errorCode,
      blockConnection: true,
      blockTimeMS: 6_000,
    };
    const replies = await withErrors(fault, () =>
      Promise.all(Array.from({ length: 3 * AT_ONCE + 1 }, () => gateway.get(PATH))),
    );

    expect(replies.map(({ status, body, headers }) => [status, body.error, headers.get('Retry-After')])).toEqual(
      replies.map(() => [503, 'The service is temporarily unavailable', '1']),
    );
  },
  60_000,
);
