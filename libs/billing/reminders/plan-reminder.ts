// Plans the reminders of an invoice: by themselves when a step is due, and by hand.
import { agreedDate } from '../../clock.ts';
import { dayIn } from '../../day.ts';
import { AppError, appError, type ErrorCode } from '../../errors.ts';
import { type AccountRecord, readAccount, stepsOf } from '../../models/accounts/account.ts';
import { Client, type ClientRecord } from '../../models/accounts/client.ts';
import { Invoice, type InvoiceRecord, isOpen } from '../../models/billing/invoice.ts';
import { type MailedLink, Message, type MessageRecord } from '../../models/messages/message.ts';
import { driverOf, findOwn } from '../../models/records.ts';
import { type StoredId, storedId } from '../../models/tenant.ts';
import { ACTS_OF } from '../../rules/documents/link-terms.ts';
import {
  currentStep,
  decideReminder,
  nextDaysDeparture,
  QUIET_MS,
  REMIND_AT_STANDARD,
  type ReminderClock,
  type ReminderRule,
  type ReminderStep,
} from '../../rules/reminders/reminder-steps.ts';
import { planMessage, type WantedMail } from '../messages/plan-message.ts';
import { AGAIN, isAgain, mayRepeat } from '../messages/repeat-failed.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** The latest messages about an invoice that are read to find its last mail. Those that failed count among them. */
const MESSAGES_READ = 20;

/** The link in reminders that go out by themselves. */
const LINK: MailedLink = { type: 'invoice', allow: ACTS_OF.invoice, show_time: false };

/** The outcome of a look. An error code: the step is due, and no mail can be planned, so it waits until the next day. */
export type ReminderLook = 'planned' | 'not due' | ErrorCode;

/** The clock by which the account reminds. */
export function clockOf({ time_zone, remind_at }: Pick<AccountRecord, 'time_zone' | 'remind_at'>): ReminderClock {
  return { zone: time_zone, time: remind_at ?? REMIND_AT_STANDARD };
}

/**
 * Looks at an invoice whose mark is due: plans the step that is due, and sets the mark to the time of the next look.
 * @returns an error code when a step is due and its mail cannot be planned. It is tried again the next day.
 */
export async function lookAtInvoice(unit: UnitOfWork, id: StoredId, at: Date): Promise<ReminderLook> {
  const { session, accountId } = unit;
  const invoice = await findOwn(Invoice, accountId, id, session);
  // Another process may have looked at it, or it was changed meanwhile.
  if (!invoice?.reminder_due_at || invoice.reminder_due_at > at) return 'not due';
  const account = await readAccount(accountId, session);
  const client: ClientRecord | null = await findOwn(Client, accountId, invoice.client_id, session);
  const clock = clockOf(account);
  const { sent, failed } = await stepsSent(unit, invoice);
  const facts = {
    steps: stepsOf(account),
    clock,
    dueDate: invoice.due_date,
    isOpen: isOpen(invoice),
    rules: rulesOf(invoice, client),
    isCollected: client?.auto_collect === true,
    reminder_rest: invoice.reminder_rest,
    sent,
    quietUntil: await quietUntil(unit, invoice, { at }),
  };
  const { step, lookAt } = decideReminder(facts, at);
  const obstacle = step && (await planStep(unit, invoice, step, failed.get(step.days)));
  await setReminderMark(unit, id, obstacle ? nextDaysDeparture(clock, at) : lookAt);
  if (!step) return 'not due';
  return obstacle ?? 'planned';
}

/** Returns the rules that stop reminders of the invoice. */
export function rulesOf(
  invoice: Pick<InvoiceRecord, 'reminders'>,
  client: Pick<ClientRecord, 'reminders'> | null,
): ReminderRule[] {
  return [invoice.reminders, client?.reminders].filter((rule) => rule !== undefined && rule !== null);
}

/** Sets when the scheduler looks at the invoice. Readers do not see the mark, so `updated_at` stays. */
export async function setReminderMark(
  { session, accountId }: Pick<UnitOfWork, 'session' | 'accountId'>,
  id: StoredId,
  at: Date | undefined,
): Promise<void> {
  await driverOf(Invoice).updateOne(
    { _id: id, account_id: storedId(accountId) },
    at ? { $set: { reminder_due_at: at } } : { $unset: { reminder_due_at: 1 } },
    { session },
  );
}

/**
 * @param failed the message of the step that failed, which this one repeats.
 * @returns the reason why no mail can be planned. Nothing is written then.
 */
async function planStep(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
  { days, template: kind }: ReminderStep,
  failed: StoredId | undefined,
): Promise<ErrorCode | undefined> {
  try {
    await planMessage(unit, {
      kind,
      type: 'invoice',
      record: invoice,
      wanted: {},
      days,
      link: LINK,
      once: `${oncePrefix(invoice)}${days}${failed ? AGAIN : ''}`,
      ...(failed ? { resendOf: failed } : {}),
    });
    return undefined;
  } catch (error) {
    // planMessage throws these before it writes.
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    return error.code as ErrorCode;
  }
}

function oncePrefix({ _id }: Pick<InvoiceRecord, '_id'>): string {
  return `reminder/${String(_id)}/`;
}

type Step = Pick<MessageRecord, '_id' | 'once' | 'state' | 'unknown_at' | 'erased_at' | 'resent_as' | 'recipients'>;

/**
 * Returns the days of the steps that have a message, and the messages that failed of those that go out again. There are
 * no more of them than two for each day between the first and the last step.
 */
async function stepsSent(
  { session }: UnitOfWork,
  invoice: InvoiceRecord,
): Promise<{ sent: number[]; failed: Map<number, StoredId> }> {
  const { account_id } = invoice;
  const prefix = oncePrefix(invoice);
  // `0` is the character after `/`.
  const once = { $gte: prefix, $lt: `${prefix.slice(0, -1)}0` };
  const fields = { once: 1, state: 1, unknown_at: 1, erased_at: 1, resent_as: 1 } as const;
  const steps = (await driverOf(Message)
    .find({ account_id, once } as object, {
      session,
      projection: { ...fields, 'recipients.role': 1, 'recipients.code': 1 },
    })
    .toArray()) as unknown as Step[];
  const daysOf = ({ once: name = '' }: Step) => Number(name.slice(prefix.length).replace(AGAIN, ''));
  const repeated = new Set(steps.filter(isAgain).map(daysOf));
  const failed = steps.filter((step) => mayRepeat(step) && !repeated.has(daysOf(step)));
  // An operator or its account may have sent it again. A repetition that was stopped comes later.
  const resent = failed.flatMap(({ resent_as }) => resent_as ?? []);
  const stopped = await cancelledOf({ session }, { account_id, ids: resent });
  const free = failed.filter(({ resent_as }) => !resent_as || stopped.has(String(resent_as)));
  return {
    sent: steps.filter((step) => !free.includes(step)).map(daysOf),
    failed: new Map(free.map((step) => [daysOf(step), step._id])),
  };
}

async function cancelledOf(
  { session }: Pick<UnitOfWork, 'session'>,
  { account_id, ids }: { account_id: StoredId; ids: readonly StoredId[] },
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const about = { account_id, _id: { $in: ids }, state: 'cancelled' } as object;
  const found = await driverOf(Message)
    .find(about, { session, projection: { _id: 1 } })
    .toArray();
  return new Set(found.map(({ _id }) => String(_id)));
}

/** Lets the scheduler look at the invoice of a step whose mail has failed, at the next day's time of reminders. */
export async function lookAfterFailure(unit: UnitOfWork, message: MessageRecord): Promise<void> {
  if (!message.reminder || !mayRepeat(message)) return;
  const { session, accountId } = unit;
  const at = nextDaysDeparture(clockOf(await readAccount(accountId, session)), agreedDate());
  const { account_id, document } = message;
  // An earlier look does as well.
  await driverOf(Invoice).updateOne(
    { _id: document.id, account_id } as object,
    { $min: { reminder_due_at: at } as object },
    { session },
  );
}

/**
 * Returns the end of the time in which the last mail about the invoice forbids a reminder. A mail that is planned for
 * later forbids one only shortly before, unless it is the first that the client gets about the invoice.
 * @param except the messages that do not count.
 */
export async function quietUntil(
  { session }: Pick<UnitOfWork, 'session'>,
  { account_id, _id }: Pick<InvoiceRecord, 'account_id' | '_id'>,
  { at, except = [] }: { at: Date; except?: readonly StoredId[] },
): Promise<Date | undefined> {
  const found = (await driverOf(Message)
    .find({ account_id, 'document.id': _id, _id: { $nin: except } } as object, {
      session,
      sort: { _id: -1 },
      limit: MESSAGES_READ,
      projection: { state: 1, accepted_at: 1, send_at: 1 },
    })
    .toArray()) as unknown as Pick<MessageRecord, 'state' | 'accepted_at' | 'send_at'>[];
  const wasMailed = found.some(({ accepted_at }) => accepted_at);
  const ends = found.map((message) => mailedAt(message, at) + QUIET_MS);
  const last = Math.max(0, ...ends.filter((end) => !wasMailed || end < at.getTime() + 2 * QUIET_MS));
  return last > 0 ? new Date(last) : undefined;
}

/** Returns when the client got or will get the mail, in milliseconds. */
function mailedAt({ state, accepted_at, send_at }: Pick<MessageRecord, 'state' | 'accepted_at' | 'send_at'>, at: Date) {
  if (accepted_at) return accepted_at.getTime();
  if (state === 'failed' || state === 'cancelled') return Number.NEGATIVE_INFINITY;
  return Math.max(at.getTime(), send_at?.getTime() ?? 0);
}

/**
 * Plans a reminder that a caller asks for, with the words of the step that the invoice is at, or those of the first one.
 * @throws AppError 409 unless something is due of the invoice and its due date has come, and as planMessage.
 */
export async function remindByHand(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
  { wanted, link, requestId }: { wanted: WantedMail; link?: MailedLink | undefined; requestId?: string | undefined },
): Promise<MessageRecord> {
  const account = await readAccount(unit.accountId, unit.session);
  const today = dayIn(account.time_zone);
  if (!isOpen(invoice) || today < invoice.due_date) throw appError('invoice_not_due');
  const kind = currentStep(stepsOf(account), invoice.due_date, today)?.template ?? 'reminder_1';
  return planMessage(unit, { kind, type: 'invoice', record: invoice, wanted, link, requestId });
}
