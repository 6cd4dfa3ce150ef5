// Routes of balances: all movements of an invoice, and the debt and credit of a client.

import { clientBalances, clientBalancesAsOf } from '#libs/billing/payments/client-balance.ts';
import { dayIn } from '#libs/day.ts';
import { fieldProblem } from '#libs/errors.ts';
import { Client, embeddedClient } from '#libs/models/accounts/client.ts';
import { DUE_FIELDS } from '#libs/models/billing/balance-expressions.ts';
import { CreditNote, type CreditNoteRecord } from '#libs/models/billing/credit-note.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { printedNumber } from '#libs/models/billing/number-ledger.ts';
import { Payment, type PaymentRecord } from '#libs/models/billing/payment.ts';
import { LIST_LIMIT_MS } from '#libs/models/list-total.ts';
import { readOwnAtOnce } from '#libs/models/own-snapshot.ts';
import { type Id, storedId } from '#libs/models/tenant.ts';
import { balanceResponse, invoiceLedger } from '#libs/responses/payment.ts';
import { effectiveInvoiceStatus } from '#libs/rules/documents/invoice-states.ts';
import { dueOf } from '#libs/rules/money/balance.ts';
import { fromMinor } from '#libs/rules/money/money.ts';
import { found } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { type BalanceQuery, balanceQuery } from './input.ts';

export const balanceRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/v1/invoices/{id}/payments',
    operation: 'getInvoicePayments',
    isLarge: true,
    scope: 'payments:read',
    missing: 'Invoice not found or access denied',
    docs: {
      title: 'Get the movements of an invoice',
      summary: 'Get every movement of an invoice, released and voided ones too, and what is due',
      response: invoiceLedger,
    },
    handler: getInvoicePayments,
  }),
  route({
    method: 'get',
    path: '/api/v1/clients/{id}/balance',
    operation: 'getClientBalance',
    isLarge: true,
    scope: 'payments:read',
    query: balanceQuery,
    missing: 'Client not found or access denied',
    docs: {
      title: 'Get the balance of a client',
      summary: 'Get what a client owes and has as credit, per currency, today or at the end of a past day',
      response: balanceResponse,
    },
    handler: getClientBalance,
  }),
];

async function getInvoicePayments({ caller, id, missing }: Context) {
  const { accountId, account } = caller;
  const read = await invoiceWithMovements(accountId, id);
  if (!read) throw missing();
  const { invoice, payments, notes, has_more } = read;
  const { currency } = invoice;
  const major = (amount: number) => fromMinor(amount, currency);
  const status = effectiveInvoiceStatus(invoice, dayIn(account.time_zone));
  return found({
    invoice: { id, invoice_number: printedNumber('invoice', invoice) },
    status,
    currency,
    total: major(invoice.amount + invoice.tax_amount),
    rounding_amount: major(invoice.rounding_amount ?? 0),
    amount_paid: major(invoice.amount_paid),
    amount_credited: major(invoice.amount_credited ?? 0),
    amount_written_off: major(invoice.amount_written_off ?? 0),
    amount_due: status === 'Cancelled' ? 0 : major(dueOf(invoice)),
    has_more,
    movements: [
      ...paidOf(invoice, payments, major),
      ...creditedOf(invoice, notes, major),
      ...writtenOffOf(invoice, major),
    ].toSorted((one, other) => (`${one.date}${one.id}` < `${other.date}${other.id}` ? -1 : 1)),
  });
}

async function getClientBalance({ caller, query, requireRecord }: Context<unknown, BalanceQuery>) {
  const { accountId, account } = caller;
  const client = await requireRecord(Client);
  const { time_zone: timeZone } = account;
  const today = dayIn(timeZone);
  const { as_of = today } = query;
  if (as_of > today) throw fieldProblem('as_of', 'too_late', { latest: today });
  const balances =
    as_of === today
      ? await clientBalances(accountId, client._id, today)
      : await clientBalancesAsOf(accountId, client._id, { day: as_of, timeZone });
  return found({ client: embeddedClient(client), as_of, balances });
}

/** Payments, credit notes that are on an invoice, and those that correct it. */
const SHOWN_MAX = 1_000;
/** Parts of one of them: it may be put on the same invoice and released again and again. */
const PARTS_SHOWN_MAX = 100;

const INVOICE_FIELDS = {
  number: 1,
  number_text: 1,
  currency: 1,
  status: 1,
  due_date: 1,
  ...DUE_FIELDS,
  total_credited: 1,
  is_reversed: 1,
  write_offs: 1,
} as const;

/** All at one instant: the movements sum to what the invoice says. Of a payment or a credit note only its parts on this invoice are read. */
function invoiceWithMovements(accountId: Id, id: Id) {
  const _id = storedId(id);
  const own = { $filter: { input: '$allocations', cond: { $eq: ['$$this.invoice_id', _id] } } };
  const allocations = { $slice: [own, PARTS_SHOWN_MAX + 1] };
  return readOwnAtOnce(accountId, LIST_LIMIT_MS, async (reader) => {
    const read = <Stored>(records: Parameters<typeof reader.find>[0], filter: object, projection: object) =>
      reader.find<Stored>(records, filter, { sort: { _id: 1 }, projection, limit: SHOWN_MAX + 1 });
    const [invoice] = await read<InvoiceRecord>(Invoice, { _id }, INVOICE_FIELDS);
    if (!invoice) return undefined;
    const ofPayment = { number: 1, number_text: 1, method: 1, source: 1, status: 1, allocations };
    const ofNote = { number: 1, number_text: 1, invoice_id: 1, issued_on: 1, reason: 1, allocations };
    const isOn = { 'allocations.invoice_id': _id };
    const payments = await read<PaymentRecord>(Payment, isOn, ofPayment);
    const credits = await read<CreditNoteRecord>(CreditNote, isOn, ofNote);
    const isOf = { invoice_id: _id };
    const isCredited = invoice.is_reversed || invoice.total_credited;
    const corrections = isCredited ? await read<CreditNoteRecord>(CreditNote, isOf, ofNote) : [];
    const notes = new Map([...corrections, ...credits].map((note) => [String(note._id), note]));
    const has_more =
      [payments, credits, corrections].some(({ length }) => length > SHOWN_MAX) ||
      [...payments, ...notes.values()].some((one) => one.allocations.length > PARTS_SHOWN_MAX);
    return { invoice, payments, notes: [...notes.values()], has_more };
  });
}

function paidOf({ _id }: InvoiceRecord, payments: readonly PaymentRecord[], major: (amount: number) => number) {
  return payments.flatMap((payment) =>
    payment.allocations
      .filter(({ invoice_id }) => invoice_id.equals(_id))
      .map((part) => ({
        kind: 'payment',
        id: String(part._id),
        date: part.date,
        amount: major(part.amount),
        refunded: major(part.refunded),
        ended_on: part.released_on ?? null,
        payment: {
          id: String(payment._id),
          payment_number: printedNumber('payment', payment),
          method: payment.method,
          source: payment.source,
          status: payment.status,
        },
        credit_note: null,
        reason: null,
      })),
  );
}

/** One that took nothing off, because all of it was paid, is shown with nothing. */
function creditedOf({ _id }: InvoiceRecord, notes: readonly CreditNoteRecord[], major: (amount: number) => number) {
  return notes.flatMap((note) => {
    const isOwn = note.invoice_id.equals(_id);
    const parts = note.allocations.filter(({ invoice_id }) => invoice_id.equals(_id));
    const nothing = { _id: note._id, date: note.issued_on, amount: 0, released_on: undefined };
    return (parts.length === 0 ? [nothing] : parts).map((part) => ({
      kind: isOwn ? 'credit_note' : 'credit',
      id: String(part._id),
      date: part.date,
      amount: major(part.amount),
      refunded: 0,
      ended_on: part.released_on ?? null,
      payment: null,
      credit_note: { id: String(note._id), credit_note_number: printedNumber('credit_note', note) },
      reason: isOwn ? note.reason : null,
    }));
  });
}

function writtenOffOf({ write_offs = [] }: InvoiceRecord, major: (amount: number) => number) {
  return write_offs.map(({ _id, date, amount, reason, reversed_on }) => ({
    kind: 'write_off',
    id: String(_id),
    date,
    amount: major(amount),
    refunded: 0,
    ended_on: reversed_on ?? null,
    payment: null,
    credit_note: null,
    reason,
  }));
}
