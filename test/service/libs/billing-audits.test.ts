// Findings of `doctor` about money, time and quotes: nothing for sound records, and each kind of damage by its name.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { auditBilledOnce } from '#libs/billing/audits/billed-once-audit.ts';
import { auditLedger } from '#libs/billing/audits/ledger-audit.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { type AnyRecord, madeBy } from '../../support/crashes/billing-world.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
const made: Record<string, AnyRecord> = {};

beforeAll(async () => {
  gateway = await startGateway();
  const call = async (method: string, path: string, body?: object) =>
    (await gateway.call(method, `/api/v1${path}`, { body })).body.data;
  const { client_id, billed, quote, invoice, payment } = await madeBy(call);
  made['time'] = await billed('Sent', 2);
  made['written off'] = await billed('Sent', 1);
  await call('POST', `/invoices/${made['written off'].id}/write-off`, { reason: 'insolvent' });
  made['cancelled'] = await billed('Sent', 1);
  await call('PATCH', `/invoices/${made['cancelled'].id}`, { status: 'Cancelled' });
  made['package'] = await call('POST', '/hour-packages', { client_id, hours: 1 });
  made['drawn'] = await billed('Sent', 2);
  const { id: project_id } = await call('POST', '/projects', { name: 'Trip', client_id });
  const expense = { project_id, date: '2026-01-02', description: 'Train', amount: 10 };
  made['expense'] = await call('POST', '/expenses', expense);
  const wanted = { client_id, include_time: false, expense_ids: [made['expense'].id] };
  made['spent'] = await call('POST', '/invoices/from-time', wanted);
  const terms = { billing: 'fixed', fixed_amount: 1000 };
  made['project'] = await call('POST', '/projects', { name: 'Website', client_id, ...terms });
  made['part'] = await call('POST', `/projects/${made['project'].id}/bill`, { percent: 40 });
  [made['drawdown']] = await call('GET', `/hour-packages/${made['package'].id}/drawdowns`);
  made['quote'] = await quote();
  const convert = (body: object) => call('POST', `/quotes/${made['quote'].id}/convert`, { accept: true, ...body });
  made['deposit'] = await convert({ part: 'deposit', percent: 30, status: 'Sent' });
  made['final'] = await convert({ part: 'final' });
  made['invoice'] = await invoice({ amount: 40 });
  const { id: creditedInvoice } = await invoice({ amount: 30 });
  made['credited'] = await call('POST', `/invoices/${creditedInvoice}/credit-notes`, { reason: 'correction' });
  made['payment'] = await payment({ amount: 100, allocations: [{ invoice_id: made['invoice'].id }] });
});
afterAll(() => gateway.close());

const audit = async () => {
  const rows = [...(await auditLedger()), ...(await auditBilledOnce())];
  return rows.map(({ problem, id }) => [problem, id]);
};

test('when time, quotes and payments were changed through the API, then the audit finds no problem', async () => {
  expect(await audit()).toEqual([]);
});

const idOf = (name: string) => () => made[name]?.id as string;
const entry = () => made['time'].entries[0] as string;
const drawdown = () => made['drawdown']?.id as string;
const MISSING = newId();

test.each<[string, string, () => string, object, string, () => string]>([
  ['time is both billed and settled', 'time_entries', entry, { settled: 'written_off' }, 'time entry: it is on', entry],
  ['billed time is not billable', 'time_entries', entry, { billable: false }, 'time entry: it is on', entry],
  [
    'time refers to a line that does not exist',
    'time_entries',
    entry,
    { billed_line: 9 },
    'invoice: time is billed',
    idOf('time'),
  ],
  [
    'time refers to an invoice that does not exist',
    'time_entries',
    entry,
    { invoice_id: storedId(MISSING) },
    'invoice: time is billed',
    () => MISSING,
  ],
  [
    'time belongs to another account',
    'time_entries',
    entry,
    { account_id: storedId(MISSING) },
    'invoice: time is billed',
    idOf('time'),
  ],
  [
    'the invoice of time is cancelled',
    'invoices',
    idOf('time'),
    { status: 'Cancelled' },
    'invoice: time is billed',
    idOf('time'),
  ],
  [
    'a line has lost its time entries',
    'invoices',
    idOf('time'),
    { 'time.lines.0.id': 9 },
    'invoice: a line bills time',
    idOf('time'),
  ],
  [
    'a final invoice has no claim on its quote',
    'invoices',
    idOf('final'),
    { quote_claim: null },
    'invoice: its claim',
    idOf('final'),
  ],
  [
    'a cancelled invoice keeps its claim on the quote',
    'invoices',
    idOf('final'),
    { status: 'Cancelled' },
    'invoice: its claim',
    idOf('final'),
  ],
  [
    'a deposit claims the quote',
    'invoices',
    idOf('deposit'),
    { quote_claim: storedId(MISSING) },
    'invoice: its claim',
    idOf('deposit'),
  ],
  [
    'the partial invoices exceed the quote',
    'invoices',
    idOf('deposit'),
    { amount: 50_000 },
    'quote: its invoices bill',
    idOf('quote'),
  ],
  [
    'the quote is missing',
    'invoices',
    idOf('final'),
    { quote_id: storedId(MISSING) },
    'invoice: the quote that',
    idOf('final'),
  ],
  [
    'more is billed than the fixed amount',
    'projects',
    idOf('project'),
    { fixed_amount: 39_999 },
    'project: more than',
    idOf('project'),
  ],
  [
    'an invoice bills more of a fixed amount than its project records',
    'invoices',
    idOf('part'),
    { 'fixed_part.amount': 40_001 },
    'project: its invoices',
    idOf('project'),
  ],
  [
    'an invoice bills a fixed amount of a project that does not exist',
    'invoices',
    idOf('part'),
    { 'fixed_part.project_id': storedId(MISSING) },
    'invoice: it bills a fixed amount',
    idOf('part'),
  ],
  [
    'a package is overdrawn',
    'hour_packages',
    idOf('package'),
    { seconds: 3_599 },
    'hour package: more hours',
    idOf('package'),
  ],
  [
    'a package does not count a drawdown',
    'hour_packages',
    idOf('package'),
    { drawn_seconds: 0 },
    'hour package: its drawdowns',
    idOf('package'),
  ],
  [
    'a package is missing',
    'hour_drawdowns',
    drawdown,
    { package_id: storedId(MISSING) },
    'drawdown: it draws from',
    drawdown,
  ],
  [
    'the invoice of a drawdown is cancelled',
    'invoices',
    idOf('drawn'),
    { status: 'Cancelled' },
    'drawdown: its invoice',
    drawdown,
  ],
  [
    'an expense is both billed and settled',
    'expenses',
    idOf('expense'),
    { settled: 'written_off' },
    'expense: it is on an invoice, and settled',
    idOf('expense'),
  ],
  [
    'the invoice of an expense is cancelled',
    'invoices',
    idOf('spent'),
    { status: 'Cancelled' },
    'expense: it is on an invoice that',
    idOf('expense'),
  ],
  [
    'a line has lost its expense',
    'expenses',
    idOf('expense'),
    { invoice_id: null },
    'invoice: a line bills an expense',
    idOf('spent'),
  ],
  [
    'the unallocated credit is negative',
    'payments',
    idOf('payment'),
    { unallocated: -1 },
    'payment: amount is not',
    idOf('payment'),
  ],
  [
    'a payment exceeds the sum of its parts',
    'payments',
    idOf('payment'),
    { amount: 10_001 },
    'payment: amount is not',
    idOf('payment'),
  ],
  [
    'an invoice records more than was paid',
    'invoices',
    idOf('invoice'),
    { amount_paid: 4_001 },
    'invoice: amount_paid',
    idOf('invoice'),
  ],
  [
    'an invoice does not count its payment',
    'invoices',
    idOf('invoice'),
    { amount_paid: 0 },
    'payment: an invoice does not',
    idOf('payment'),
  ],
  [
    'a payment pays the invoice of another account',
    'payments',
    idOf('payment'),
    { account_id: storedId(MISSING) },
    'payment: an invoice does not',
    idOf('payment'),
  ],
  [
    'a credit note credits the invoice of another account',
    'credit_notes',
    idOf('credited'),
    { account_id: storedId(MISSING) },
    'credit note: its invoice does not',
    idOf('credited'),
  ],
  [
    'a paid invoice has the status Sent',
    'invoices',
    idOf('invoice'),
    { status: 'Sent' },
    'invoice: status does not',
    idOf('invoice'),
  ],
])('when %s, then the audit reports it by its name', async (_damage, collection, id, damage, problem, named) => {
  const stored = mongoose.connection.collection(collection);
  const one = { _id: storedId(id()) } as object;
  const before = await stored.findOne(one);
  await stored.updateOne(one, { $set: damage });
  try {
    expect(await audit()).toContainEqual([expect.stringContaining(problem), named()]);
  } finally {
    await stored.replaceOne(one, before as object);
  }
});
