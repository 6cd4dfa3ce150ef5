// Unpaid invoices that were not reminded of or whose promised day has passed, and credit of clients that pays nothing.
import { addDays } from '../../day.ts';
import { stepsOf } from '../../models/accounts/account.ts';
import { Client } from '../../models/accounts/client.ts';
import { PaymentPromise, type PromiseRecord } from '../../models/answers/promise.ts';
import { DUE_FIELDS } from '../../models/billing/balance-expressions.ts';
import { CreditNote, type CreditNoteRecord } from '../../models/billing/credit-note.ts';
import { Invoice, type InvoiceRecord, isOpen, OPEN_STATUSES } from '../../models/billing/invoice.ts';
import { Payment, type PaymentRecord } from '../../models/billing/payment.ts';
import { dueOf } from '../../rules/money/balance.ts';
import { currentStep, REMINDER_KINDS, stopOf } from '../../rules/reminders/reminder-steps.ts';
import { rulesOf } from '../reminders/plan-reminder.ts';
import { COUNTED, counted, type Forgotten, hasAny, type Look, NOTHING, SIFTED, sift } from './forgotten.ts';
import { documentsWithMail } from './forgotten-mail.ts';

const FIELDS = {
  status: 1,
  client_id: 1,
  currency: 1,
  ...DUE_FIELDS,
  due_date: 1,
  reminders: 1,
  reminder_rest: 1,
} as const satisfies Partial<Record<keyof InvoiceRecord, 1>>;

/** Yields issued invoices that are not settled, in the order in which they are due. */
function openInvoices({ reader }: Look, due: object): AsyncIterable<InvoiceRecord> {
  return reader.each<InvoiceRecord>(
    Invoice,
    { status: { $in: OPEN_STATUSES }, ...due },
    {
      projection: FIELDS,
      sort: { due_date: 1 },
      hint: { account_id: 1, status: 1, due_date: 1, _id: 1, amount: 1 },
      ...SIFTED,
    },
  );
}

/**
 * Finds overdue invoices of which no reminder went out. An invoice whose reminders are off, paused or resting is left
 * out, and one whose first step is still to come.
 */
export function unremindedInvoices(look: Look): Promise<Forgotten> {
  const { reader, account, today } = look;
  const steps = stepsOf(account);
  return sift(openInvoices(look, { due_date: { $lt: today } }), async (invoices) => {
    const clients = await reader.byIds(
      Client,
      invoices.map(({ client_id }) => client_id),
      ['reminders'],
    );
    const reminded = await remindedOf(look, invoices);
    const isForgotten = (invoice: InvoiceRecord) => {
      const rules = rulesOf(invoice, clients.get(String(invoice.client_id)) ?? null);
      const isToCome = steps.length > 0 && !currentStep(steps, invoice.due_date, addDays(today, -1));
      return (
        !reminded.has(String(invoice._id)) &&
        !isToCome &&
        !stopOf({ isOpen: isOpen(invoice), rules, reminder_rest: invoice.reminder_rest }, today)
      );
    };
    return invoices
      .filter(isForgotten)
      .map((invoice) => ({ id: invoice._id, day: invoice.due_date, money: moneyOf(invoice) }));
  });
}

/** Returns the ids of the invoices of which a reminder went out or is about to. */
function remindedOf(look: Look, invoices: readonly InvoiceRecord[]): Promise<Set<string>> {
  const ids = invoices.map(({ _id }) => _id);
  return documentsWithMail(look, ids, { kind: { $in: REMINDER_KINDS }, state: { $nin: ['failed', 'cancelled'] } });
}

/** Finds unpaid invoices whose last promise was broken. */
export async function brokenPromises(look: Look): Promise<Forgotten> {
  const { reader } = look;
  if (!(await hasAny(look, PaymentPromise))) return NOTHING;
  return sift(openInvoices(look, {}), async (invoices) => {
    const promises = await reader.find<PromiseRecord>(
      PaymentPromise,
      { invoice_id: { $in: invoices.map(({ _id }) => _id) } },
      {
        projection: { invoice_id: 1, status: 1, promised_for: 1 },
        hint: { account_id: 1, invoice_id: 1, _id: 1 },
      },
    );
    const byInvoice = Map.groupBy(promises, ({ invoice_id }) => String(invoice_id));
    return invoices.flatMap((invoice) => {
      const last = byInvoice.get(String(invoice._id))?.toSorted(byId).at(-1);
      if (last?.status !== 'broken' || !isOpen(invoice)) return [];
      return [{ id: invoice._id, day: last.promised_for, money: moneyOf(invoice) }];
    });
  });
}

function byId(one: Pick<PromiseRecord, '_id'>, other: Pick<PromiseRecord, '_id'>): number {
  return String(one._id) < String(other._id) ? -1 : 1;
}

/** Finds payments with something left that pays no invoice. */
export function unallocatedPayments(look: Look): Promise<Forgotten> {
  return unallocated(look, Payment, 'date');
}

/** Finds credit notes with something left that pays no invoice. */
export function unallocatedCreditNotes(look: Look): Promise<Forgotten> {
  return unallocated(look, CreditNote, 'issued_on');
}

type Unallocated = Pick<PaymentRecord, '_id' | 'currency' | 'unallocated' | 'date'> &
  Pick<CreditNoteRecord, 'issued_on'>;

async function unallocated(
  { reader }: Look,
  records: typeof Payment | typeof CreditNote,
  day: 'date' | 'issued_on',
): Promise<Forgotten> {
  const found = await reader.find<Unallocated>(records, LEFT, {
    projection: { currency: 1, unallocated: 1, [day]: 1 },
    ...LEFT_ALONG,
  });
  return counted(found, (one) => ({
    id: one._id,
    day: one[day],
    money: { amount: one.unallocated, currency: one.currency },
  }));
}

const LEFT = { unallocated: { $gt: 0 } } as const;
/** The index has only records with something left. */
const LEFT_ALONG = { hint: { account_id: 1, client_id: 1, unallocated: 1 }, ...COUNTED } as const;

function moneyOf(invoice: InvoiceRecord) {
  return { amount: dueOf(invoice), currency: invoice.currency };
}
