// One number: total, tax and what is taxed are the same in the stored record, the API, the event made from it and the printed document.
import { expect, test } from '@jest/globals';
import Big from 'big.js';
import fc from 'fast-check';
import { creditNoteDocument } from '#libs/documents/credit-note-document.ts';
import { invoiceDocument } from '#libs/documents/stored-document.ts';
import type { AccountRecord } from '#libs/models/accounts/account.ts';
import type { ClientRecord } from '#libs/models/accounts/client.ts';
import type { CreditNoteRecord } from '#libs/models/billing/credit-note.ts';
import { type InvoiceRecord, invoiceView } from '#libs/models/billing/invoice.ts';
import { partiesOf } from '#libs/models/billing/parties.ts';
import { newRecord } from '#libs/models/tenant.ts';
import { hasCharges } from '#libs/rules/documents/document-charges.ts';
import { invoiceMoney, quoteMoney } from '#libs/rules/documents/document-money.ts';
import { lineItem } from '#libs/rules/documents/line-item.ts';
import { fromMinor, percentOf, sumOfLines } from '#libs/rules/money/money.ts';
import { taxesOf } from '#libs/rules/taxes/document-taxes.ts';
import { type TaxCategory, taxLines } from '#libs/rules/taxes/tax-groups.ts';
import { documentView } from '../../../services/renderer/document/document-view.ts';
import { runs } from '../../support/form.ts';

const ACCOUNT = '0192e0a0-0000-7000-8000-000000000001';
const issuer = { name: 'Studio', locale: 'en-GB', time_zone: 'UTC' } as AccountRecord;
const client = { ...newRecord(ACCOUNT), name: 'Ada', email: 'ada@example.com' } as ClientRecord;
const details = { parties: partiesOf(issuer, client), timeZone: 'UTC', isTest: false };

const own = fc.oneof(
  fc.constant({}),
  fc.record({ tax_rate: fc.constantFrom(0, 2.6, 7, 8.1, 33.333) }),
  fc.record({ tax_category: fc.constantFrom<TaxCategory>('E', 'G', 'O', 'K', 'Z') }),
);
const line = fc
  .record({
    qty: fc.integer({ min: -20, max: 900 }).map((hundredths) => hundredths / 100),
    rate: fc.integer({ min: 1, max: 99_999 }).map((cents) => cents / 100),
    discount: fc.constantFrom(0, 10, 33.33),
    own,
    unit: fc.constantFrom(undefined, 'hour', 'KWH'),
  })
  .map(({ own: tax, ...one }) => lineItem({ description: 'Work', ...one, ...tax }));
const given = fc.record({
  line_items: fc.array(line, { minLength: 1, maxLength: 20 }),
  currency: fc.constantFrom('EUR', 'JPY', 'KWD'),
  tax_rate: fc.constantFrom(0, 8.1, 19, 20),
  prices_include_tax: fc.boolean(),
  charges: fc.oneof(
    fc.constant({}),
    fc.record({ discount_percent: fc.constantFrom(0.5, 33.33, 90), shipping_amount: fc.constantFrom(0, 4.99, 120) }),
    fc.record({ discount_amount: fc.constantFrom(0.01, 7.77), shipping_amount: fc.constantFrom(3, 30) }),
    fc.record({ shipping_amount: fc.constant(12.5), shipping_tax_rate: fc.constantFrom(0, 7, 33.333) }),
  ),
});

/** The number that is printed, without the sign of the currency. */
const printed = ({ before, after }: { before: string; after: string }) =>
  Number(`${before}${after}`.replaceAll(/[^\d.−-]/g, '').replace('−', '-'));

const recordOf = (money: ReturnType<typeof invoiceMoney>) =>
  ({
    ...newRecord(ACCOUNT),
    ...{ number: 1, client_id: client._id, project_id: null, description: null, issue_date: '2026-11-26' },
    ...{ status: 'Sent', due_date: '2026-12-26', amount_paid: 0 },
    ...money,
  }) as InvoiceRecord;

test('when an invoice has any mix of lines, then record, response and document have the same amounts, and the document adds up', () => {
  const each = fc.property(given, (terms) => {
    const lines = taxLines(terms.line_items, terms);
    fc.pre(lines.amount > 0 && lines.total > 800 && sumOfLines(terms.line_items, terms.currency) > 800);
    const money = invoiceMoney({ ...terms, issuer });
    const whole = { ...money, total: money.amount + money.tax_amount };
    const isCharged = hasCharges(money);
    if (!isCharged) expect(lines).toMatchObject({ amount: money.amount, tax_amount: money.tax_amount });
    const invoice = recordOf(money);
    const response = invoiceView(invoice, { client, project: undefined, status: 'Sent' });
    const { currency } = terms;
    const digits = (sum: number) => Math.round(sum * 1000);
    expect(response).toMatchObject({
      amount: fromMinor(whole.amount, currency),
      tax_amount: fromMinor(whole.tax_amount, currency),
      total: fromMinor(whole.total, currency),
    });
    expect(digits(response.taxes.reduce((sum, { tax }) => sum + tax, 0))).toBe(digits(response.tax_amount));
    expect(digits(response.taxes.reduce((sum, { taxable }) => sum + taxable, 0))).toBe(digits(response.amount));

    const document = invoiceDocument(invoice, details, { style: 'modern' } as never);
    const { view, warnings } = documentView(document, { logo: undefined, banner: undefined, bodyHtml: undefined });
    expect(warnings).toEqual([]);
    expect(printed(view.total)).toBe(response.total);
    const rows = view.totals.map(({ amount }) => printed(amount));
    // No row is printed when the only rate is 0 and its tax is 0.
    const taxed = response.taxes.filter(({ rate, tax }, _index, all) => all.length > 1 || rate !== 0 || tax !== 0);
    const [net, ...taxes] = rows.slice(rows.length - taxed.length - 1);
    expect([net, taxes]).toEqual([response.amount, taxed.map(({ tax }) => tax)]);
    const { discount_amount, shipping_amount } = response;
    expect(rows.slice(0, rows.length - taxed.length - 1)).toEqual(
      isCharged
        ? [
            fromMinor(sumOfLines(terms.line_items, currency), currency),
            ...[-discount_amount, shipping_amount].filter((row) => row !== 0),
          ]
        : [],
    );
    const bases = view.totals.flatMap(({ base }) => (base ? [printed(base)] : []));
    expect(bases).toEqual(response.taxes.length > 1 ? response.taxes.map(({ taxable }) => taxable) : []);
    const notes = response.taxes.flatMap(({ note }) => note ?? []);
    expect(view.taxNotes.filter((note) => note !== 'Prices include tax.')).toEqual([...new Set(notes)]);
  });
  fc.assert(each, runs(200));
});

test('when a quote has an amount beside its lines, then their rates share the difference, and all of it adds up', () => {
  const each = fc.property(given, fc.integer({ min: 1, max: 50_000_000 }), (terms, amount) => {
    const net = { ...terms, prices_include_tax: false, charges: {} };
    const lines = taxLines(terms.line_items, net);
    const difference = { qty: 1, rate: fromMinor(amount - lines.amount, terms.currency), discount: 0 };
    const alone = taxLines([...terms.line_items, difference], net);
    fc.pre(alone.total > 0);
    const quote = quoteMoney({ ...net, amount: fromMinor(amount, terms.currency), issuer });
    expect(quote.amount).toBe(amount);
    const isShared = lines.amount > 0 && lines.taxes.every(({ taxable }) => taxable >= 0);
    if (!isShared) return expect(quote.tax_amount).toBe(alone.tax_amount);
    const taxes = taxesOf(quote);
    expect(taxes.reduce((sum, { taxable }) => sum + taxable, 0)).toBe(amount);
    for (const [index, { taxable, tax, rate }] of taxes.entries()) {
      const proportion = new Big(lines.taxes[index]?.taxable ?? 0).times(amount).div(lines.amount);
      expect(proportion.minus(taxable).abs().lte(1)).toBe(true);
      expect(tax).toBe(percentOf(taxable, rate));
    }
  });
  fc.assert(each, runs());
});

test.each([false, true])(
  'when a credit note takes back lines, discount and shipping and prices include tax is %s, then its document leads from one to the other',
  (prices_include_tax) => {
    const line_items = [lineItem({ description: 'Work', qty: 1, rate: 100, discount: 0 })];
    const charges = { discount_amount: 10, shipping_amount: 5 };
    const terms = { currency: 'EUR', tax_rate: 20, tax_category: undefined, prices_include_tax, issuer };
    const money = invoiceMoney({ ...terms, line_items, charges });
    const of = { invoice_number: 'INV-0001', invoice_issued_on: '2026-11-26' };
    const parts = { settle: 'credit', applied_at_issue: 0, issued_on: '2026-11-27', reason: 'correction', ...of };
    const note = {
      ...newRecord(ACCOUNT),
      number: 1,
      description: null,
      ...parts,
      ...money,
    } as unknown as CreditNoteRecord;
    const document = creditNoteDocument(note, details, { style: 'modern' } as never);
    const { view, warnings } = documentView(document, { logo: undefined, banner: undefined, bodyHtml: undefined });
    expect(warnings).toEqual([]);
    const [net, tax, total] = prices_include_tax ? [79.17, 15.83, 95] : [95, 19, 114];
    expect(view.totals.map(({ amount }) => printed(amount))).toEqual([-100, 10, -5, -net, -tax]);
    expect(printed(view.total)).toBe(-total);
  },
);
