// One number: total, tax and what is taxed are the same in the stored record, the API, the event made from it and the printed document.
import { expect, test } from '@jest/globals';
import Big from 'big.js';
import fc from 'fast-check';
import { invoiceMoney, quoteMoney } from '#libs/billing/document-money.ts';
import { fromMinor } from '#libs/billing/money.ts';
import { type TaxCategory, taxLines } from '#libs/billing/tax-groups.ts';
import type { AccountRecord } from '#libs/models/accounts/account.ts';
import type { ClientRecord } from '#libs/models/accounts/client.ts';
import { type InvoiceRecord, invoiceView } from '#libs/models/billing/invoice.ts';
import { lineItem } from '#libs/models/billing/line-item.ts';
import { partiesOf } from '#libs/models/billing/parties.ts';
import { newRecord } from '#libs/models/tenant.ts';
import { invoiceDocument } from '../../../services/gateway/documents/stored-document.ts';
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
    const whole = taxLines(terms.line_items, terms);
    fc.pre(whole.amount > 0 && whole.total > 0);
    const invoice = recordOf(invoiceMoney({ ...terms, issuer }));
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
    const [net, ...taxes] = view.totals.map(({ amount }) => printed(amount));
    expect([net, taxes]).toEqual([response.amount, response.taxes.map(({ tax }) => tax)]);
    const bases = view.totals.flatMap(({ base }) => (base ? [printed(base)] : []));
    expect(bases).toEqual(response.taxes.length > 1 ? response.taxes.map(({ taxable }) => taxable) : []);
    const notes = response.taxes.flatMap(({ note }) => note ?? []);
    expect(view.taxNotes.filter((note) => note !== 'Prices include tax.')).toEqual([...new Set(notes)]);
  });
  fc.assert(each, runs(200));
});

test('when a quote has an amount beside its lines, then the difference is taxed at its own rate and all of it adds up', () => {
  const each = fc.property(given, fc.integer({ min: 1, max: 50_000_000 }), (terms, amount) => {
    const net = { ...terms, prices_include_tax: false };
    const taxable = taxLines(terms.line_items, net).amount;
    const difference = { description: '', qty: 1, rate: fromMinor(amount - taxable, terms.currency), discount: 0 };
    const expected = taxLines([...terms.line_items, difference], net);
    fc.pre(expected.total > 0);
    const quote = quoteMoney({ ...net, amount: fromMinor(amount, terms.currency), issuer });
    expect([quote.amount, quote.tax_amount]).toEqual([amount, expected.tax_amount]);
    const exact = new Big(expected.amount).plus(expected.tax_amount);
    expect(exact.eq(expected.total)).toBe(true);
  });
  fc.assert(each, runs());
});
