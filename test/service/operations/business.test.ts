// The business of a day: what counts, per currency, along indexes, and within a bound.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { Payment } from '#libs/models/billing/payment.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { readBusiness } from '../../../services/operations/store/business-figures.ts';
import { type Browser, startDashboard, type TestDashboard } from '../../support/dashboard/dashboard.ts';
import { addRender } from '../../support/dashboard/records.ts';
import { plansOf } from '../../support/plans.ts';

const TODAY = new Date().toISOString().slice(0, 10);
const BEFORE = new Date(Date.now() - 24 * 3_600_000).toISOString().slice(0, 10);

let dashboard: TestDashboard;
let viewer: Browser;
beforeAll(async () => {
  dashboard = await startDashboard();
  viewer = await dashboard.login('viewer');
});
afterAll(() => dashboard.close());

/** Inserts records with the fields that matter here. */
async function insert(model: { collection: unknown }, records: object[]) {
  const collection = model.collection as { insertMany(records: object[]): Promise<unknown> };
  await collection.insertMany(
    records.map((record) => ({ _id: storedId(newId()), account_id: storedId(newId()), ...record })),
  );
}

test('when a day is shown, then issued invoices and received payments of all accounts are summed per currency, and no others', async () => {
  const invoice = (status: string, currency: string, amount: number, issue_date = TODAY) => ({
    status,
    currency,
    amount,
    issue_date,
    number_text: newId(),
  });
  await insert(Invoice, [
    invoice('Sent', 'EUR', 100_050),
    invoice('Paid', 'EUR', 20_000),
    invoice('Sent', 'JPY', 5_000),
    invoice('Draft', 'EUR', 999_999),
    invoice('Cancelled', 'EUR', 999_999),
    invoice('Sent', 'EUR', 999_999, BEFORE),
  ]);
  const payment = (status: string, amount: number, date = TODAY) => ({ status, currency: 'EUR', amount, date });
  await insert(Payment, [payment('Received', 12_345), payment('Voided', 999_999), payment('Received', 700, BEFORE)]);
  await addRender({ accountId: newId(), minutesAgo: 0 });
  await addRender({ accountId: newId(), minutesAgo: 0, status: 'failed', errorClass: 'crash' });

  const { text } = await viewer.get(`/business?day=${TODAY}`);
  const before = (await viewer.get(`/business?day=${BEFORE}`)).text;

  expect(text).toMatch(/Invoices issued<\/dt><dd>3<small>1 draft</);
  expect(text).toMatch(/EUR[\s\S]*1,200\.50[\s\S]*JPY[\s\S]*5,000</);
  expect(text).toMatch(/Payments<\/dt><dd>1<small>1 voided</);
  expect(text).toContain('123.45');
  expect(text).toMatch(/Documents printed<\/dt><dd>1</);
  expect(text).not.toContain('9,999');
  expect(before).toMatch(/9,999\.99[\s\S]*7\.00/);
  for (const day of ['2026-02-31', 'today', '2026-1-1'])
    expect((await viewer.get(`/business?day=${day}`)).status).toBe(400);
});

test('when a day is read, then indexes answer it without a record, and a bound ends it', async () => {
  for (const { collection } of [Invoice, Payment] as unknown as { collection: { name: string } }[]) {
    const reads = await plansOf(collection.name, () => readBusiness(TODAY));
    expect(reads.map(({ isByIndex, docsExamined }) => [isByIndex, docsExamined])).toEqual([[true, 0]]);
  }
  const cut = await readBusiness(TODAY, 2);
  expect(cut.invoices.rows.reduce((sum, { count }) => sum + count, 0)).toBe(2);
  expect([cut.invoices.isCut, (await readBusiness(TODAY)).invoices.isCut]).toEqual([true, false]);
});
