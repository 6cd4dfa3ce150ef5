// The client names a day on which it will pay, and the day passes.
import { addDays, dayIn } from '../../day.ts';
import { readAccount } from '../../models/accounts/account.ts';
import { Client, type ClientRecord } from '../../models/accounts/client.ts';
import {
  PaymentPromise,
  type PromiseRecord,
  promiseStatus,
  promisesOf,
  promiseView,
} from '../../models/answers/promise.ts';
import { Invoice, type InvoiceRecord } from '../../models/billing/invoice.ts';
import { changeOwn, findOwn, insertOwn, lockOwn } from '../../models/records.ts';
import { removeBatch } from '../../models/remove-records.ts';
import { type Id, newRecord, type StoredId, storedId } from '../../models/tenant.ts';
import type { EventType } from '../../models/webhooks/event-types.ts';
import { effectiveInvoiceStatus } from '../../rules/documents/invoice-states.ts';
import { dueOf } from '../../rules/money/balance.ts';
import { updateReminderRest } from '../reminders/update-rest.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import type { Visitor } from './visitor.ts';

/** The most promises about one invoice. */
const PROMISES_MAX = 2;
/** The days from today within which a client can promise. */
const PROMISE_DAYS_MAX = 60;

/**
 * The outcome of a promise.
 * - `done before`: the same day is promised already, as after a second click.
 * - `wrong day`: it is in the past, or too far ahead.
 * - `too many`: the invoice has PROMISES_MAX.
 * - `not due`: nothing is to be paid.
 */
export type PromiseOutcome = 'done' | 'done before' | 'wrong day' | 'too many' | 'not due';

/** Returns the first and the last day that can be promised. @param today of the account. */
export function promisableDays(today: string): { first: string; last: string } {
  return { first: today, last: addDays(today, PROMISE_DAYS_MAX) };
}

/** Notes that the client will pay on a day, instead of an open promise of it. Reminders rest until the day after. */
export async function promisePayment(
  unit: UnitOfWork,
  { id, day, visitor }: { id: Id | StoredId; day: string; visitor: Visitor },
): Promise<PromiseOutcome> {
  const { session, accountId } = unit;
  const { time_zone } = await readAccount(accountId, session);
  const today = dayIn(time_zone);
  const invoice = await lockOwn(Invoice, accountId, id, session);
  if (!invoice || !isDue(invoice, today)) return 'not due';
  const promises = await promisesOf(invoice, session);
  const open = promises.find(({ status }) => status === 'open');
  if (open?.promised_for === day) return 'done before';
  const { first, last } = promisableDays(today);
  if (day < first || day > last) return 'wrong day';
  if (promises.length >= PROMISES_MAX) return 'too many';
  if (open) await settle(unit, open, 'replaced');
  const promise: PromiseRecord = {
    ...newRecord(accountId),
    invoice_id: invoice._id,
    client_id: invoice.client_id,
    promised_for: day,
    status: 'open',
    link_id: storedId(visitor.linkId),
    expires_on: day,
  };
  await insertOwn(PaymentPromise, promise, session);
  const resting = await updateReminderRest(unit, invoice, time_zone);
  await announce(unit, 'client.promised', promise, resting);
  return 'done';
}

/** Deletes the promises about an invoice: its reminders go on, and the client can promise again. */
export async function deletePromises(unit: UnitOfWork, invoice: InvoiceRecord): Promise<void> {
  const { session, accountId } = unit;
  await removeBatch(PaymentPromise, accountId, await promisesOf(invoice, session), session);
  await updateReminderRest(unit, invoice, (await readAccount(accountId, session)).time_zone);
}

/**
 * Decides what became of a promise whose day has passed.
 * @param today of the account.
 * @returns true when it is broken, which is announced.
 */
export async function endPromise(unit: UnitOfWork, id: StoredId, today: string): Promise<boolean> {
  const { session, accountId } = unit;
  const promise = await findOwn(PaymentPromise, accountId, id, session);
  if (!promise?.expires_on || promise.expires_on >= today) return false;
  const invoice = await lockOwn(Invoice, accountId, promise.invoice_id, session);
  if (!invoice) return false;
  const status = promiseStatus(promise, invoice);
  const ended = await settle(unit, promise, status === 'open' ? 'broken' : status);
  const going = await updateReminderRest(unit, invoice, (await readAccount(accountId, session)).time_zone);
  if (ended.status !== 'broken' || promise.status !== 'open') return false;
  await announce(unit, 'promise.broken', ended, going);
  return true;
}

function isDue(invoice: InvoiceRecord, today: string): boolean {
  const status = effectiveInvoiceStatus(invoice, today);
  return (status === 'Sent' || status === 'Overdue') && dueOf(invoice) > 0;
}

/** Ends a promise. The scheduler looks at it no more. */
function settle({ session }: UnitOfWork, promise: PromiseRecord, status: PromiseRecord['status']) {
  return changeOwn(PaymentPromise, promise, { status, expires_on: undefined }, session);
}

async function announce(unit: UnitOfWork, type: EventType, promise: PromiseRecord, invoice: InvoiceRecord) {
  const client: ClientRecord | null = await findOwn(Client, unit.accountId, promise.client_id, unit.session);
  await unit.announce(type, promiseView(promise, invoice, client ?? undefined));
}
