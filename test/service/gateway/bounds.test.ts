// What one request makes the system read, make and keep has a bound, whatever the account holds. Every operation is asked over a full account.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isList, type Route } from '../../../services/gateway/http/route.ts';
import type { PrintDocument } from '../../../services/gateway/printing/print-document.ts';
import { type FullAccount, fillAccount, LINE_TEXT } from '../../support/full-account.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, kindOf, operations } from '../../support/operations.ts';
import { routeTable } from '../../support/route-table.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

interface Bound {
  /** Bytes that the database sends. */
  read: number;
  /** Bytes that the database gets: what is kept, and the commands. */
  sent: number;
  /** Bytes of the response, or of the document that is printed. */
  made: number;
}

const ONE: Bound = { read: MIB, sent: 2 * MIB, made: MIB };
const LIST: Bound = { read: 32 * MIB, sent: 64 * KIB, made: 32 * MIB };

const BOUNDS: Readonly<Record<string, Partial<Bound>>> = {};

interface Case {
  row: Route;
  name: string;
  query?: string;
  id?: (full: FullAccount) => string | undefined;
  body?: (full: FullAccount) => object;
}

const gathered = { group_by: 'none', line_text: LINE_TEXT, missing_rate: 'zero' };

/** Further requests of an operation, or another one in place of the usual. */
const CASES: Readonly<Record<string, readonly Omit<Case, 'row' | 'name'>[]>> = {
  getClientBalance: [{}, { query: '?as_of=2026-02-01' }],
  getInvoicePayments: [{}],
  createTask: [{ body: ({ ids }) => ({ name: 'x', project_id: ids['projects'] }) }],
  createTimeEntry: [
    { body: ({ ids }) => ({ hours: 1, date: '2026-01-02', project_id: ids['projects'], task_id: ids['tasks'] }) },
  ],
  settleTimeEntries: [
    { body: ({ entryIds }) => ({ time_entry_ids: entryIds, status: 'not_billed' }) },
    { body: ({ entryIds }) => ({ time_entry_ids: entryIds, status: 'unbilled' }) },
  ],
  settleExpenses: [
    { body: ({ expenseIds }) => ({ expense_ids: expenseIds, status: 'not_billed' }) },
    { body: ({ expenseIds }) => ({ expense_ids: expenseIds, status: 'unbilled' }) },
  ],
  createInvoiceFromTime: [
    { query: '?dry_run=true', body: ({ clientId }) => ({ client_id: clientId, ...gathered }) },
    {
      query: '?dry_run=true',
      body: ({ clientId }) => ({ client_id: clientId, include_time: false, include_expenses: true }),
    },
    { body: ({ clientId }) => ({ client_id: clientId, ...gathered }) },
  ],
  createPayment: [{ body: ({ clientId }) => ({ client_id: clientId, amount: 900_000_000 }) }],
  payInvoice: [{ body: () => ({ amount: 1 }) }],
  updateInvoice: [{}, { id: ({ ids }) => ids['sent-invoices'], body: () => ({ status: 'Cancelled' }) }],
  deleteInvoice: [{ id: ({ ids }) => ids['timed-invoices'] }, {}],
  createDocuments: [{ body: ({ invoiceIds }) => ({ documents: invoiceIds.map((id) => ({ type: 'invoice', id })) }) }],
};

let gateway: TestGateway;
let full: FullAccount;
let printed = 0;
const table: string[] = [];
const sockets = new Set<Socket>();
const remember = (message: unknown) => void sockets.add((message as { socket: Socket }).socket);

beforeAll(async () => {
  subscribe('net.client.socket', remember);
  const print: PrintDocument = async ({ document }) => {
    printed = JSON.stringify(document).length;
    throw new Error('nothing is printed here');
  };
  gateway = await startGateway({ print });
  const start = performance.now();
  full = await fillAccount(gateway);
  console.log('filled in', performance.now() - start);
});
afterAll(async () => {
  unsubscribe('net.client.socket', remember);
  console.log(table.join('\n'));
  await gateway.close();
});

/** Reads first, deletions last: each finds a full account. */
const ORDER = ['get', 'post', 'patch', 'delete'];
const cases: Case[] = routeTable
  .toSorted((one, other) => ORDER.indexOf(one.method) - ORDER.indexOf(other.method))
  .flatMap((row) =>
    (CASES[row.operation] ?? [{}]).map((one, index) => ({
      ...one,
      row,
      name: `${row.operation} ${index || ''}`.trim(),
    })),
  );

test.each(cases.map((one) => [one.name, one] as const))('%s', async (_name, { row, query, id, body }) => {
  const at = id?.(full) ?? (row.path.includes('{id}') ? full.ids[kindOf(row.path)] : '');
  const payload = body?.(full) ?? (await bodyFor(gateway, row.operation, full.account));
  const path =
    row.path.replace('{id}', String(at)).replace('{index}', '0') + (query ?? (isList(row) ? '?limit=100' : ''));
  const before = counted();
  printed = 0;
  const start = performance.now();
  const response = await fetch(gateway.url + path, {
    method: row.method,
    headers: { Authorization: `Bearer ${full.account.key}`, 'Content-Type': 'application/json' },
    ...(payload ? { body: JSON.stringify(payload) } : {}),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const after = counted();
  const used = {
    read: after.read - before.read,
    sent: after.sent - before.sent,
    made: Math.max(printed, bytes.length),
  };
  table.push(
    JSON.stringify([
      _name,
      response.status,
      used,
      Math.round(performance.now() - start),
      response.status >= 400 ? String(bytes).slice(0, 200) : '',
    ]),
  );
  const bound = { ...(isList(row) ? LIST : ONE), ...BOUNDS[row.operation] };
  const over = Object.entries(bound).filter(([name, most]) => used[name as keyof Bound] > most);
  expect(over.map(([name, most]) => `${name} ${used[name as keyof Bound]} of ${most}`)).toEqual([]);
});

function counted() {
  const { port } = new URL(gateway.workspace.mongodbUri.replace(/^mongodb:/, 'http:'));
  const ours = [...sockets].filter((socket) => String(socket.remotePort) === port);
  return {
    read: ours.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    sent: ours.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
  };
}
void operations;
