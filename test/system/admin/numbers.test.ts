// Numbers that were issued after a backup: the command skips them, so that a restored database issues none of them again.
import { expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { NumberLedger } from '#libs/models/billing/number-ledger.ts';
import { Counter } from '#libs/models/counter.ts';
import { AuditEntry } from '#libs/models/operations/audit-entry.ts';
import { storedId } from '#libs/models/tenant.ts';
import { CommandError } from '../../../services/admin/connection.ts';
import { advanceNumbers } from '../../../services/admin/numbers.ts';
import { numberedAccount } from '../../support/numbered-account.ts';
import { type AnyRecord, UNKNOWN_ID } from '../../support/records.ts';
import { runAdmin } from '../../support/run-admin.ts';

const { own, invoice, quote, audit: auditResponse } = numberedAccount();
const audit = async (query = '') => (await auditResponse(query)).data;

function advance(to: string, { kind = 'invoice', id = own.account.id } = {}) {
  const args = ['numbers', 'advance', '--account', id, '--kind', kind, '--to', to, '--json'];
  return runAdmin(args, { MONGODB_URI: own.gateway.workspace.mongodbUri });
}

async function advanced(to: string, kind?: string) {
  const { code, stdout, stderr } = await advance(to, kind ? { kind } : {});
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

/** Everything that a rejected command must leave unchanged. */
const state = async () => ({
  counter: await Counter.findById(own.account.id).lean(),
  rows: await NumberLedger.countDocuments({ account_id: own.account.id }),
});

const entries = async () =>
  (await AuditEntry.find({ target: own.account.id }).sort({ _id: 1 }).lean()).map(
    ({ operator, action, outcome, detail }) => [operator, action, outcome, detail],
  );

test('when invoice numbers are advanced, then the next invoice gets the number after them, and the audit lists the skipped ones as deleted', async () => {
  const made = [await invoice(), await invoice()];
  await quote();

  expect(await advanced('INV-0005')).toEqual({
    account_id: own.account.id,
    kind: 'invoice',
    skipped: 3,
    first: 'INV-0003',
    last: 'INV-0005',
    next: 'INV-0006',
  });

  const next = await invoice();
  expect([next.invoice_number, (await quote()).quote_number]).toEqual(['INV-0006', 'QUO-0002']);
  const { gapless, kinds, numbers } = await audit();
  expect(gapless).toBe(true);
  const none = { gapless: true, drawn: 0, live: 0, deleted: 0, holes: [], lost: [], sequences: [] };
  expect(kinds).toEqual({
    credit_note: none,
    invoice: {
      gapless: true,
      drawn: 6,
      live: 3,
      deleted: 3,
      holes: [],
      lost: [],
      sequences: [{ period: null, first: 1, last: 6 }],
    },
    payment: none,
    quote: {
      gapless: true,
      drawn: 2,
      live: 2,
      deleted: 0,
      holes: [],
      lost: [],
      sequences: [{ period: null, first: 1, last: 2 }],
    },
  });
  const invoices = numbers.filter((row: AnyRecord) => row.kind === 'invoice');
  expect(invoices.map(({ number, deleted_at }: AnyRecord) => [number, deleted_at !== null])).toEqual([
    ['INV-0001', false],
    ['INV-0002', false],
    ['INV-0003', true],
    ['INV-0004', true],
    ['INV-0005', true],
    ['INV-0006', false],
  ]);
  expect(new Set(invoices.map((row: AnyRecord) => row.document_id)).size).toBe(6);
  expect(invoices[0].document_id).toBe(made[0].id);
  expect(await entries()).toEqual([['command line', 'numbers.advance', 'done', 'INV-0003 to INV-0005 skipped']]);
});

test('when an account has drawn nothing yet, then its first quote gets the number after those skipped', async () => {
  expect(await advanced('7', 'quote')).toMatchObject({ skipped: 7, first: 'QUO-0001', next: 'QUO-0008' });

  expect((await quote()).quote_number).toBe('QUO-0008');
  expect((await invoice()).invoice_number).toBe('INV-0001');
  expect((await audit()).gapless).toBe(true);
});

test('when the maximum is skipped at once, then all of them are, and the audit is gapless', async () => {
  await invoice();
  const { stderr } = await advance('10002');
  expect(stderr).toBe('INV-10002 would skip 10001 numbers; at most 10000 are skipped at once\n');

  expect(await advanced('10001')).toMatchObject({ skipped: 10_000, next: 'INV-10002' });

  expect((await invoice()).invoice_number).toBe('INV-10002');
  expect(await audit('?kind=invoice&limit=1')).toMatchObject({
    gapless: true,
    kinds: { invoice: { drawn: 10_002, live: 2, deleted: 10_000 } },
  });
});

test('when gateways draw numbers and two commands run at the same time, then no number is given twice and none is missing', async () => {
  const made: string[] = [];
  let isOver = false;
  const drawing = (async () => {
    while (!isOver) made.push((await invoice()).invoice_number);
  })();
  const outcomes = await Promise.all([advance('400'), advance('400'), advance('600')]);
  isOver = true;
  await drawing;

  const codes = outcomes.map(({ code }) => code);
  // The command to 600 may run first and leave nothing to do for the others; of the two to 400, one comes too late.
  expect(codes[2]).toBe(0);
  expect(codes.filter((code) => code === 0).length).toBeLessThanOrEqual(2);
  for (const { stderr } of outcomes.filter(({ code }) => code !== 0)) expect(stderr).toMatch(/^INV-0400 is drawn/);
  made.push((await invoice()).invoice_number);
  expect(new Set(made).size).toBe(made.length);
  const { gapless, kinds } = await audit('?kind=invoice');
  expect([gapless, kinds.invoice.live]).toEqual([true, made.length]);
  expect(kinds.invoice.drawn).toBeGreaterThan(600);
});

test('when the number would not increase, then it is rejected, nothing changes, and the log has the reason', async () => {
  await invoice();
  await invoice();
  const before = await state();

  for (const to of ['INV-0002', '1']) {
    const { code, stdout, stderr } = await advance(to);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(`INV-000${to.at(-1)} is drawn already; the last one is INV-0002\n`);
  }

  expect(await state()).toEqual(before);
  expect((await entries()).map(([, action, outcome, detail]) => [action, outcome, detail])).toEqual([
    ['numbers.advance', 'failed', 'INV-0002 is drawn already; the last one is INV-0002'],
    ['numbers.advance', 'failed', 'INV-0001 is drawn already; the last one is INV-0002'],
  ]);
});

test('when the account does not exist, then stderr has one line and the exit code is 1', async () => {
  const { code, stdout, stderr } = await advance('5', { id: UNKNOWN_ID });

  expect([code, stdout, stderr]).toEqual([1, '', `No account has the id ${UNKNOWN_ID}\n`]);
});

test.each([
  ['an account that is no id', '5', { account: 'studio' }, /^No account has the id studio$/],
  ['an unknown kind', '5', { kind: 'receipt' }, /^--kind must be credit_note, invoice, payment or quote$/],
  ['a sequence that is no kind of document', '5', { kind: 'event' }, /^--kind must be/],
  ['a printed number of another kind', 'QUO-0005', {}, /^--to must be .*such as 50 or INV-0050$/],
  ['a number with text after it', '5th', {}, /^--to must be/],
  ['a fraction', '5.5', {}, /^--to must be/],
  ['a prefix alone', 'INV-', {}, /^--to must be/],
  ['zero', '0', {}, /^--to must be/],
  ['a negative number', '-5', {}, /^--to must be/],
  ['more than a counter holds', '9'.repeat(30), {}, /^--to must be/],
])(
  'when the operator gives %s, then it is rejected, nothing changes and the audit log stays empty',
  async (_what, to, wrong, message) => {
    await invoice();
    const before = await state();

    const error = await advanceNumbers({ account: own.account.id, kind: 'invoice', to, ...wrong }).catch(
      (each) => each,
    );

    expect(error).toBeInstanceOf(CommandError);
    expect(error.message).toMatch(message);
    expect(await state()).toEqual(before);
    expect(await entries()).toEqual([]);
  },
);

test('when the counter stays locked, then one line reports it, and nothing changes', async () => {
  await invoice();
  const before = await state();
  // A separate client: a transaction of the service that waits for so long would be treated as abandoned and aborted.
  const holder = await new MongoClient(own.gateway.workspace.mongodbUri).connect();
  const session = holder.startSession();
  session.startTransaction();
  const mine = { _id: storedId(own.account.id) as never };
  await holder
    .db()
    .collection('counters')
    .updateOne(mine, { $inc: { event: 1 } }, { session });

  const { code, stderr } = await advance('5');
  await session.abortTransaction();
  await holder.close();

  expect([code, stderr]).toEqual([1, 'The record is busy, please try again\n']);
  expect(await state()).toEqual(before);
  expect((await entries()).map(([, , outcome]) => outcome)).toEqual(['failed']);
});
