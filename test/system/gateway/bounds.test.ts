// What one request makes the system read, make and keep has a bound, whatever the account holds. Every operation is asked over a full account.
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import mongoose from 'mongoose';
import { AppError } from '#libs/errors.ts';
import { isList, type Route } from '../../../services/gateway/http/route.ts';
import type { PrintDocument } from '../../../services/gateway/printing/print-document.ts';
import { countBytes } from '../../support/counted-bytes.ts';
import { type FullAccount, fillAccount, LINE_TEXT, PAGE } from '../../support/full-account.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, kindOf } from '../../support/operations.ts';
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
/** A page has at most 100 of the largest records; here it is a fifth of that. */
const LIST: Bound = { read: 8 * MIB, sent: 64 * KIB, made: 8 * MIB };

/** The text of the time of one invoice, see find-billable-time.ts, or the records that one request changes, see read-within.ts. */
const TEXT = 16 * MIB;

const BOUNDS: Readonly<Record<string, Partial<Bound>>> = {
  // Lines, allocations and refunds are in each of its records.
  listCreditNotes: { read: 12 * MIB, made: 12 * MIB },
  // 20,000 movements.
  getClientBalance: { read: 3 * MIB },
  // The 1,000 packages that a client may have, with their names.
  getClientHours: { read: 3 * MIB, made: 3 * MIB },
  getInvoiceTime: { read: TEXT + 2 * MIB, made: TEXT + 6 * MIB },
  // What is changed is announced.
  settleTimeEntries: { read: TEXT + 2 * MIB, sent: TEXT + 6 * MIB },
  settleExpenses: { read: 2 * MIB, sent: 4 * MIB },
  createInvoiceFromTime: { read: TEXT + 2 * MIB, sent: TEXT + 6 * MIB },
  addTimeToInvoice: { read: TEXT + 2 * MIB, sent: TEXT + 6 * MIB },
  releaseTimeFromInvoice: { read: TEXT + 2 * MIB, sent: TEXT + 6 * MIB },
  // The oldest half of it, again and again, until an invoice takes it.
  runRecurringInvoice: { read: 3 * TEXT + 2 * MIB, sent: TEXT + 6 * MIB },
  createPayment: { read: TEXT + 2 * MIB, sent: TEXT + 2 * MIB },
  // Its invoices, and the credit notes of one of them.
  releasePayment: { read: 2 * TEXT + 2 * MIB, sent: TEXT + 2 * MIB },
  voidPayment: { read: 2 * TEXT + 2 * MIB, sent: TEXT + 2 * MIB },
  releaseCreditNote: { read: TEXT + 2 * MIB, sent: TEXT + 2 * MIB },
  updateInvoice: { read: TEXT + 2 * MIB, sent: TEXT + 2 * MIB },
  deleteInvoice: { read: TEXT + 2 * MIB, sent: TEXT + 6 * MIB },
  // All events that name the client, in batches.
  anonymiseClient: { read: 96 * MIB, sent: 96 * MIB },
  replayWebhook: { read: 2 * MIB, sent: 8 * MIB },
  deleteTask: { read: TEXT, sent: TEXT },
};

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
    { body: ({ entryIds }) => ({ time_entry_ids: entryIds, status: 'written_off' }) },
    { body: ({ entryIds }) => ({ time_entry_ids: entryIds, status: 'unbilled' }) },
  ],
  settleExpenses: [
    { body: ({ expenseIds }) => ({ expense_ids: expenseIds, status: 'written_off' }) },
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
  createPayment: [{ body: ({ clientId }) => ({ client_id: clientId, amount: 30_000_000 }) }],
  payInvoice: [{ body: () => ({ amount: 1 }) }],
  updateInvoice: [{}, { id: ({ ids }) => ids['sent-invoices'], body: () => ({ status: 'Cancelled' }) }],
  allocatePayment: [{ body: ({ invoiceIds }) => ({ invoice_id: invoiceIds[3], amount: 1 }) }],
  allocateCreditNote: [{ body: ({ invoiceIds }) => ({ invoice_id: invoiceIds[3], amount: 1 }) }],
  voidPayment: [{ id: ({ ids }) => ids['voidable-payments'], body: () => ({ reason: 'x' }) }],
  deleteInvoice: [{ id: ({ ids }) => ids['timed-invoices'] }, {}],
  createDocuments: [{ body: ({ invoiceIds }) => ({ documents: invoiceIds.map((id) => ({ type: 'invoice', id })) }) }],
};

let gateway: TestGateway;
let full: FullAccount;
let printed = 0;
const bytesOfStore = countBytes(() => gateway.workspace.mongodbUri);

beforeAll(async () => {
  const print: PrintDocument = async ({ document }) => {
    printed = JSON.stringify(document).length;
    throw new AppError(422, 'Nothing is printed here');
  };
  gateway = await startGateway({ print });
  full = await fillAccount(gateway);
});
afterAll(async () => {
  bytesOfStore.close();
  await gateway.close();
});

/** Reads first, deletions last: each finds a full account. */
const ORDER = ['get', 'post', 'patch', 'delete'];
const isEnd = ({ operation }: Route) => operation === 'anonymiseClient';
const cases: Case[] = routeTable
  .toSorted(
    (one, other) =>
      Number(isEnd(one)) - Number(isEnd(other)) || ORDER.indexOf(one.method) - ORDER.indexOf(other.method),
  )
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
    row.path.replace('{id}', String(at)).replace('{index}', '0') + (query ?? (isList(row) ? `?limit=${PAGE}` : ''));
  const aborted = jest.spyOn(mongoose.mongo.ClientSession.prototype, 'abortTransaction');
  const before = bytesOfStore.total();
  printed = 0;
  const response = await fetch(gateway.url + path, {
    method: row.method.toUpperCase(),
    headers: { Authorization: `Bearer ${full.account.key}`, 'Content-Type': 'application/json' },
    ...(payload ? { body: JSON.stringify(payload) } : {}),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const after = bytesOfStore.total();
  // On a busy machine a transaction may have to begin again; a dry run and an error always take their own back.
  const isTakenBack = response.status >= 400 || query?.includes('dry_run');
  const attempts = Math.max(1, aborted.mock.calls.length + (isTakenBack ? 0 : 1));
  aborted.mockRestore();
  const used = {
    read: (after.read - before.read) / attempts,
    sent: (after.sent - before.sent) / attempts,
    made: Math.max(printed, bytes.length),
  };
  expect([response.status, String(bytes.subarray(0, 500))]).toEqual([
    expect.any(Number),
    expect.not.stringContaining('Internal'),
  ]);
  const bound = { ...(isList(row) ? LIST : ONE), ...BOUNDS[row.operation] };
  const over = Object.entries(bound).filter(([name, most]) => used[name as keyof Bound] > most);
  expect(over.map(([name, most]) => `${name} ${used[name as keyof Bound]} of ${most}`)).toEqual([]);
});
