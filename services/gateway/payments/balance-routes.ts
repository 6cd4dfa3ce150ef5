// Where an invoice and a client stand: every movement of the one, and what the other owes or has as credit.
import { dueOf, totalOf } from '#libs/billing/balance.ts';
import { clientBalances, clientBalancesAsOf } from '#libs/billing/client-balance.ts';
import { effectiveInvoiceStatus } from '#libs/billing/invoice-states.ts';
import { fromMinor } from '#libs/billing/money.ts';
import { dayIn } from '#libs/day.ts';
import { fieldProblem } from '#libs/errors.ts';
import { Client, embeddedClient } from '#libs/models/accounts/client.ts';
import { CreditNote, type CreditNoteRecord } from '#libs/models/billing/credit-note.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { printedNumber } from '#libs/models/billing/number-ledger.ts';
import { Payment, type PaymentRecord } from '#libs/models/billing/payment.ts';
import { LIST_LIMIT_MS } from '#libs/models/list-total.ts';
import { readOwnAtOnce } from '#libs/models/own-snapshot.ts';
import { type Id, storedId } from '#libs/models/tenant.ts';
import { found } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { type BalanceQuery, balanceQuery } from './input.ts';
import { balanceResponse, invoiceLedger } from './response.ts';

export const balanceRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/v1/invoices/{id}/payments',
    operation: 'getInvoicePayments',
    scope: 'payments:read',
    missing: 'Invoice not found or access denied',
    docs: {
      summary: 'Get every movement of an invoice, released and voided ones too, and what is due',
      response: invoiceLedger,
    },
    handler: getInvoicePayments,
  }),
  route({
    method: 'get',
    path: '/api/v1/clients/{id}/balance',
    operation: 'getClientBalance',
    scope: 'payments:read',
    query: balanceQuery,
    missing: 'Client not found or access denied',
    docs: {
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
  const { invoice, payments, notes } = read;
  const { currency } = invoice;
  const major = (amount: number) => fromMinor(amount, currency);
  const status = effectiveInvoiceStatus(invoice, dayIn(account.time_zone));
  return found({
    invoice: { id, invoice_number: printedNumber('invoice', invoice) },
    status,
    currency,
    total: major(totalOf(invoice)),
    amount_paid: major(invoice.amount_paid),
    amount_credited: major(invoice.amount_credited ?? 0),
    amount_written_off: major(invoice.amount_written_off ?? 0),
    amount_due: status === 'Cancelled' ? 0 : major(dueOf(invoice)),
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
  if (as_of > today) throw fieldProblem('as_of', `as_of must not be after ${today}`);
  const balances =
    as_of === today
      ? await clientBalances(accountId, client._id, today)
      : await clientBalancesAsOf(accountId, client._id, { day: as_of, timeZone });
  return found({ client: embeddedClient(client), as_of, balances });
}

/** All at one instant: the movements sum to what the invoice says. */
function invoiceWithMovements(accountId: Id, id: Id) {
  const _id = storedId(id);
  return readOwnAtOnce(accountId, LIST_LIMIT_MS, async (reader) => {
    const read = <Stored>(records: Parameters<typeof reader.find>[0], filter: object) =>
      reader.find<Stored>(records, filter, { sort: { _id: 1 }, projection: { 'parties.issuer': 0 } });
    const [invoice] = await read<InvoiceRecord>(Invoice, { _id });
    if (!invoice) return undefined;
    const payments = await read<PaymentRecord>(Payment, { 'allocations.invoice_id': _id });
    const credits = await read<CreditNoteRecord>(CreditNote, { 'allocations.invoice_id': _id });
    const isCredited = invoice.is_reversed || invoice.total_credited;
    const corrections = isCredited ? await read<CreditNoteRecord>(CreditNote, { invoice_id: _id }) : [];
    const notes = new Map([...corrections, ...credits].map((note) => [String(note._id), note]));
    return { invoice, payments, notes: [...notes.values()] };
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
