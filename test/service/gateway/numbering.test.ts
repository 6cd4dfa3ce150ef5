// The audit of numbers: gapless including tombstones, and able to detect gaps.
import { expect, jest, test } from '@jest/globals';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { NumberLedger } from '#libs/models/billing/number-ledger.ts';
import { Counter } from '#libs/models/counter.ts';
import { eventually } from '../../support/eventually.ts';
import { withErrors } from '../../support/mongodb-errors.ts';
import { numberedAccount } from '../../support/numbered-account.ts';
import { plansOf } from '../../support/plans.ts';
import type { AnyRecord } from '../../support/records.ts';

const { own, invoice, quote, audit } = numberedAccount();

test('when nothing was ever numbered, then the audit is gapless and empty', async () => {
  expect(await audit()).toEqual({
    data: {
      gapless: true,
      kinds: {
        invoice: { gapless: true, drawn: 0, live: 0, deleted: 0, holes: [], lost: [], sequences: [] },
        credit_note: { gapless: true, drawn: 0, live: 0, deleted: 0, holes: [], lost: [], sequences: [] },
        payment: { gapless: true, drawn: 0, live: 0, deleted: 0, holes: [], lost: [], sequences: [] },
        quote: { gapless: true, drawn: 0, live: 0, deleted: 0, holes: [], lost: [], sequences: [] },
      },
      numbers: [],
    },
    pagination: { total: 0, limit: 50, offset: 0 },
  });
});

test('when documents are created and drafts deleted, then every number has a document or a tombstone', async () => {
  const made = [await invoice(), await invoice(), await invoice()];
  const offer = await quote();
  await own.gateway.delete(`/api/v1/invoices/${made[1].id}`, own.account);
  const { data, pagination } = await audit();

  expect(data.gapless).toBe(true);
  expect(data.kinds.invoice).toMatchObject({ drawn: 3, live: 2, deleted: 1 });
  expect(data.kinds.quote).toMatchObject({ drawn: 1, live: 1, deleted: 0 });
  expect(
    data.numbers.map(({ number, document_id, deleted_at }: AnyRecord) => [number, document_id, deleted_at !== null]),
  ).toEqual([
    ['INV-0001', made[0].id, false],
    ['INV-0002', made[1].id, true],
    ['INV-0003', made[2].id, false],
    ['QUO-0001', offer.id, false],
  ]);
  expect(pagination).toEqual({ total: 4, limit: 50, offset: 0 });
  const page = await audit('?kind=invoice&limit=1&offset=2');
  expect(page.data.numbers.map(({ number }: AnyRecord) => number)).toEqual(['INV-0003']);
  expect(page.pagination.total).toBe(3);
});

test('when an account has many numbers, then the audit reads only the deleted ones, within a time limit', async () => {
  const made = [];
  for (let index = 0; index < 12; index += 1) made.push(await invoice());
  for (const { id } of made.slice(0, 2)) await own.gateway.delete(`/api/v1/invoices/${id}`, own.account);

  const plans = await plansOf(NumberLedger.collection.name, () => audit('?kind=invoice&limit=3'));

  const counts = plans.filter(({ command }) => command === 'aggregate');
  expect(counts.map(({ docsExamined }) => docsExamined).toSorted()).toEqual([0, 0, 2]);
  expect(plans.map(({ isByIndex, maxTimeMS }) => [isByIndex, typeof maxTimeMS])).toEqual(
    plans.map(() => [true, 'number']),
  );
});

test('when a document is created while an account is audited, then no search for lost numbers starts', async () => {
  await invoice();
  const isSlow = {
    failCommands: ['aggregate'],
    namespace: `${Invoice.db.name}.${Invoice.collection.name}`,
    blockConnection: true,
    blockTimeMS: 1_500,
  };
  const plans = await plansOf(NumberLedger.collection.name, () =>
    withErrors(isSlow, async () => {
      const counts = jest.spyOn(Invoice.collection, 'countDocuments');
      const asked = audit('?kind=invoice');
      await eventually(() => counts.mock.calls.length > 0); // This count of the audit is blocked.
      counts.mockRestore();
      await invoice();
      expect((await asked).data.kinds.invoice).toMatchObject({ gapless: true, drawn: 1, live: 1 });
    }),
  );

  // One each for all numbers, the deleted ones, and the number of pages.
  expect(plans.filter(({ command }) => command === 'aggregate')).toHaveLength(3);
});

test('when a row or a document was removed directly in the database, then the audit names the number', async () => {
  const made = [await invoice(), await invoice(), await invoice(), await invoice()];
  await NumberLedger.deleteOne({ account_id: own.account.id, number: 2 });
  await Invoice.deleteOne({ account_id: own.account.id, _id: made[1].id });
  await Invoice.deleteOne({ account_id: own.account.id, _id: made[2].id });

  expect((await audit()).data).toMatchObject({
    gapless: false,
    kinds: { invoice: { gapless: false, drawn: 4, holes: ['INV-0002'], lost: ['INV-0003'] }, quote: { gapless: true } },
  });
  await NumberLedger.deleteOne({ account_id: own.account.id, number: 4 });
  expect((await audit('?kind=invoice')).data.kinds.invoice.holes).toEqual(['INV-0002', 'INV-0004']);
});

test.each([
  ['a row has a number that was never drawn', { $set: { number: 9 } }, { holes: ['INV-0002'], lost: [] }],
  ['a row is gone and another document', undefined, { holes: ['INV-0002'], lost: ['INV-0003'] }],
])(
  'when %s, then the counts are as they should be, and the audit names what is missing',
  async (_what, change, missing) => {
    const [, , third] = [await invoice(), await invoice(), await invoice()];
    const row = { account_id: own.account.id, number: 2 };
    if (change) await NumberLedger.updateOne(row, change);
    else {
      await NumberLedger.deleteOne(row);
      await Invoice.deleteOne({ account_id: own.account.id, _id: third?.id });
    }
    expect((await audit('?kind=invoice')).data.kinds.invoice).toMatchObject({ gapless: false, drawn: 3, ...missing });
  },
);

test('when the number passes 9999, then it simply gets longer', async () => {
  await invoice();
  await Counter.updateOne({ _id: own.account.id }, { $set: { invoice: 9998 } });

  expect([(await invoice()).invoice_number, (await invoice()).invoice_number]).toEqual(['INV-9999', 'INV-10000']);
});
