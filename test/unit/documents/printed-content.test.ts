// The fingerprint of a document covers every stored field that is printed: otherwise a change would be answered with the original of before.
import { expect, test } from '@jest/globals';
import { creditNoteDocument } from '#libs/documents/credit-note-document.ts';
import { STANDARD_LOOKS } from '#libs/documents/looks.ts';
import { PRINTED_FIELDS, printedContent, type RecordOfKind } from '#libs/documents/printed-content.ts';
import { invoiceDocument, quoteDocument, receiptDocument } from '#libs/documents/stored-document.ts';
import type { AccountRecord } from '#libs/models/accounts/account.ts';
import type { ClientRecord } from '#libs/models/accounts/client.ts';
import { CreditNote } from '#libs/models/billing/credit-note.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { partiesOf } from '#libs/models/billing/parties.ts';
import { Payment } from '#libs/models/billing/payment.ts';
import { Quote } from '#libs/models/billing/quote.ts';
import { newRecord } from '#libs/models/tenant.ts';
import { invoiceMoney } from '#libs/rules/documents/document-money.ts';
import { lineItem } from '#libs/rules/documents/line-item.ts';
import { NUMBER_KINDS, type NumberKind } from '#libs/rules/documents/number-kinds.ts';

const ACCOUNT = '0192e0a0-0000-7000-8000-000000000001';
const account = { name: 'Studio', locale: 'en-GB', time_zone: 'UTC' } as AccountRecord;
const client = { ...newRecord(ACCOUNT), name: 'Ada', email: 'ada@example.com' } as ClientRecord;
const parties = partiesOf(account, client);
const line = { description: 'Work', qty: 2, rate: 100, discount: 0 };
const money = invoiceMoney({
  issuer: account,
  currency: 'EUR',
  tax_rate: 19,
  line_items: [lineItem(line), lineItem({ ...line, tax_rate: 7 })],
  charges: { discount_percent: 10, shipping_amount: 5 },
});
const numbered = { ...newRecord(ACCOUNT), number: 7, number_text: 'X-7', parties };
const document = {
  ...numbered,
  ...money,
  tax_category: 'S',
  prices_include_tax: undefined,
  rounding_amount: 2,
  description: 'July',
  issue_date: '2026-08-01',
  service_date: '2026-07-01',
  service_period: { from: '2026-07-01', to: '2026-07-31' },
  notes: 'Thanks',
  terms: 'Net',
};
const records = {
  invoice: {
    ...document,
    due_date: '2026-08-31',
    quote_part: 'deposit',
    buyer_reference: 'B',
    order_reference: 'O',
    contract_reference: 'C',
    early_payment_discounts: [{ days: 14, percent: 2 }],
    corrects_number: 'INV-6',
    amount_paid: 0,
  },
  quote: { ...document, expires_at: '2026-08-31', early_payment_discounts: [{ days: 14, percent: 2 }] },
  credit_note: {
    ...document,
    buyer_reference: 'B',
    order_reference: 'O',
    contract_reference: 'C',
    issued_on: '2026-08-01',
    invoice_number: 'INV-1',
    invoice_issued_on: '2026-07-01',
    reason: 'cancellation',
    settle: 'refund',
    applied_at_issue: 100,
  },
  payment: {
    ...numbered,
    currency: 'EUR',
    amount: 500,
    unallocated: 100,
    date: '2026-08-01',
    method: 'cash',
    reference: 'R',
    status: 'Received',
    allocations: [{ invoice_number: 'INV-1', amount: 400, refunded: 0 }],
    refunds: [{ amount: 1 }],
  },
} as unknown as { [Kind in NumberKind]: RecordOfKind[Kind] };

/** Changed while the document stays as it was issued, or nowhere on paper. A new stored field joins these or the records above. */
const UNPRINTED: Record<NumberKind, readonly string[]> = {
  invoice: [
    'status amount_paid amount_credited total_credited is_reversed amount_written_off write_offs paid_on cancelled_on',
    'time expenses quote_id quote_number quote_claim quote_deducted fixed_part recurring reminders reminder_due_at reminder_rest corrects corrects_issued_on',
  ],
  quote: ['status acceptance decline converted_at order_reference'],
  credit_note: ['invoice_id hours_returned time_entry_ids expense_ids unallocated allocations refunds'],
  payment: ['client_id source external_id note void_reason voided_on allocated_at_booking booked_for'],
};
const EVERYWHERE =
  '_id account_id client_id project_id created_at updated_at number_period search expires_on lock_version subtotal discount_percent shipping_tax_rate shipping_tax_category refund_external_ids discounts delivery';

const MODELS = { invoice: Invoice, quote: Quote, credit_note: CreditNote, payment: Payment };
const PRINT = {
  invoice: invoiceDocument,
  quote: quoteDocument,
  credit_note: creditNoteDocument,
  payment: receiptDocument,
} as unknown as Record<NumberKind, (record: object, details: object, looks: object) => object>;

const printed = (kind: NumberKind, record: object) =>
  JSON.stringify(PRINT[kind](record, { parties, timeZone: 'UTC', isTest: false }, STANDARD_LOOKS));

/** Another value of the same type. */
function another(value: unknown): unknown {
  if (value === 'EUR') return 'USD';
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return /^\d{4}-\d\d-\d\d$/.test(value) ? '2026-12-24' : `${value}9`;
  if (value === undefined) return true;
  return Array.isArray(value) ? value.slice(1) : { ...(value as object), to: '2026-08-01', changed: true };
}

test.each(NUMBER_KINDS)(
  'when the stored fields of a %s are listed, then each is in the record of this test, or is not printed',
  (kind) => {
    const fields = new Set(Object.keys(MODELS[kind].schema.paths).map((path) => path.split('.')[0] as string));
    const unprinted = [EVERYWHERE, ...UNPRINTED[kind]].flatMap((names) => names.split(' '));

    expect([...fields].filter((name) => !(name in records[kind]) && !unprinted.includes(name))).toEqual([]);
    expect(PRINTED_FIELDS[kind].filter((name) => name !== 'created_at' && unprinted.includes(name))).toEqual([]);
  },
);

test.each(NUMBER_KINDS)('when a printed field of a %s changes, then it is another version', (kind) => {
  const record = records[kind];
  const [paper, version] = [printed(kind, record), printedContent(kind, record)];
  const missed = Object.entries(record).flatMap(([name, value]) => {
    // The parties are printed from the details.
    if (['_id', 'account_id', 'parties', 'amount_paid'].includes(name)) return [];
    const changed = { ...record, [name]: another(value) };
    return printed(kind, changed) !== paper && printedContent(kind, changed) === version ? [name] : [];
  });

  expect(missed).toEqual([]);
  expect(
    printedContent(kind, { ...record, parties: { ...parties, client: { ...parties.client, name: 'Other' } } }),
  ).not.toBe(version);
});

test('when only what is due of an invoice changes, then it is the same version', () => {
  const paid = {
    ...records.invoice,
    status: 'Paid',
    amount_paid: 500,
    updated_at: new Date(),
  } as RecordOfKind['invoice'];

  expect(printedContent('invoice', paid)).toBe(printedContent('invoice', records.invoice));
});
