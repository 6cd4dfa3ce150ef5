// Plans the reminders that are due. Each open invoice has a mark, the time of the next look at it, so a round reads only
// invoices whose time has come. Any number of schedulers may do this at once.
import { partition } from 'es-toolkit/array/partition';
import { clockOf, lookAtInvoice, type ReminderLook } from '#libs/billing/reminders/plan-reminder.ts';
import { runUnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate } from '#libs/clock.ts';
import { Account, type AccountRecord, stepsOf } from '#libs/models/accounts/account.ts';
import { DUE_FIELDS } from '#libs/models/billing/balance-expressions.ts';
import { Invoice, type InvoiceRecord, isOpen, OPEN_STATUSES } from '#libs/models/billing/invoice.ts';
import { openTries, type RoundTries } from '#libs/models/operations/round-try.ts';
import { driverOf } from '#libs/models/records.ts';
import { collectFailures } from '#libs/models/rounds.ts';
import { acrossAccounts, type StoredId, storedId, wireId } from '#libs/models/tenant.ts';
import { decideReminder } from '#libs/rules/reminders/reminder-steps.ts';
import { byAccount, type Direction, eachAccount, firstAndLast } from './by-account.ts';

/** The invoices that one round looks at. The next round follows at once with the rest. */
const LOOKED_AT = 1_000;
/** The accounts with changed steps that one round goes on with, and the invoices of each that it marks. */
const CHANGED_ACCOUNTS = 20;
const MARKED_AT_ONCE = 1_000;

type Candidate = Pick<
  InvoiceRecord,
  | '_id'
  | 'account_id'
  | 'status'
  | 'due_date'
  | 'amount'
  | 'tax_amount'
  | 'rounding_amount'
  | 'amount_paid'
  | 'amount_credited'
  | 'amount_written_off'
  | 'reminder_due_at'
>;

const FIELDS = {
  account_id: 1,
  status: 1,
  due_date: 1,
  ...DUE_FIELDS,
  reminder_due_at: 1,
} as const satisfies Partial<Record<keyof InvoiceRecord, 1>>;

type Owner = Pick<AccountRecord, '_id' | 'time_zone' | 'reminders' | 'remind_at'>;

interface Round {
  at: Date;
  tries: RoundTries;
  signal: AbortSignal | undefined;
  onLook: (outcome: ReminderLook) => void;
  failures: ReturnType<typeof collectFailures>;
}

/**
 * Plans the reminders that are due.
 * @param signal ends the round early. The next round of any scheduler plans the rest.
 * @param onLook called for each invoice of which a step was due by the calendar.
 * @returns true when more may be due.
 * @throws when an invoice failed, after all others were looked at.
 */
export async function planReminders(
  at: Date = agreedDate(),
  { signal, onLook = () => undefined }: { signal?: AbortSignal; onLook?: Round['onLook'] } = {},
): Promise<boolean> {
  const isMarking = await markChanged(at);
  const due = await firstAndLast(LOOKED_AT, (direction, most) => candidates(at, direction, most));
  const tries = await openTries('reminders', at);
  const round: Round = { at, tries, signal, onLook, failures: collectFailures() };
  const owners = await ownersOf(byAccount(due).map(([accountId]) => accountId));
  const [suspects, others] = partition(due, ({ _id }) => tries.isSuspect(_id));
  await eachAccount(byAccount(others), (accountId, own) => lookAtAll(own, owners.get(accountId), round));
  // Suspects come last and one after the other, as in the round of recurring invoices.
  for (const one of suspects) await lookAtAll([one], owners.get(wireId(one.account_id)), round);
  round.failures.report((failed) => `the reminders of ${failed} invoices could not be planned`);
  return isMarking || due.length >= LOOKED_AT;
}

// The query covers all accounts, because the scheduler belongs to none.
function candidates(at: Date, direction: Direction, limit: number): Promise<Candidate[]> {
  return Invoice.find({ reminder_due_at: { $lte: at } })
    .setOptions(acrossAccounts)
    .sort({ reminder_due_at: direction })
    .limit(limit)
    .select(FIELDS)
    .lean<Candidate[]>();
}

async function ownersOf(ids: readonly string[]): Promise<Map<string, Owner>> {
  const fields = { time_zone: 1, reminders: 1, remind_at: 1 };
  const found = await Account.find({ _id: { $in: ids } }, fields).lean<Owner[]>();
  return new Map(found.map((account) => [String(account._id), account]));
}

/** Sets the marks of the invoices that no step is due of, and looks at the others one by one. */
async function lookAtAll(own: readonly Candidate[], owner: Owner | undefined, round: Round): Promise<void> {
  const [mayBeDue, others] = partition(
    own,
    (invoice) => owner !== undefined && nextLook(invoice, owner, round) === 'now',
  );
  await setMarks(others.map((invoice) => [invoice, owner && nextLook(invoice, owner, round)] as const));
  for (const invoice of mayBeDue) {
    if (round.signal?.aborted) return;
    await lookAt(invoice, round);
  }
}

/** Decides by the calendar alone. What else counts is read in the transaction. */
function nextLook(invoice: Candidate, owner: Owner, { at }: Round): Date | 'now' | undefined {
  const { step, lookAt: next } = decideReminder(
    {
      steps: stepsOf(owner),
      clock: clockOf(owner),
      dueDate: invoice.due_date,
      isOpen: isOpen(invoice),
      sent: [],
      rules: [],
      isCollected: false,
    },
    at,
  );
  return step ? 'now' : next;
}

/** Sets the time of the next look, unless the invoice was changed since it was read. */
async function setMarks(marks: readonly (readonly [Candidate, Date | 'now' | undefined])[]): Promise<void> {
  if (marks.length === 0) return;
  await driverOf(Invoice).bulkWrite(
    marks.map(([{ _id, account_id, reminder_due_at }, at]) => ({
      updateOne: {
        filter: { _id, account_id, reminder_due_at } as object,
        update: (at instanceof Date ? { $set: { reminder_due_at: at } } : { $unset: { reminder_due_at: 1 } }) as object,
      },
    })),
    { ordered: false },
  );
}

async function lookAt(invoice: Candidate, round: Round): Promise<void> {
  const accountId = wireId(invoice.account_id);
  const tried = await round.tries.run({ id: invoice._id, accountId }, async () => {
    const { result } = await runUnitOfWork({ accountId, by: { type: 'schedule' } }, (unit) =>
      lookAtInvoice(unit, invoice._id, round.at),
    );
    round.onLook(result);
  });
  if (tried.isDone) return;
  if (tried.error) round.failures.add(String(invoice._id), tried.error);
  // An invoice that is set aside does not take the place of others in every round.
  if (tried.retryAt) await setMarks([[invoice, tried.retryAt]]);
}

/**
 * Lets the next looks find the open invoices of accounts that changed their steps, a number of them in each round.
 * @returns true when there are more.
 */
async function markChanged(at: Date): Promise<boolean> {
  const changed = await Account.find({ reminders_changed_after: { $exists: true } }, { reminders_changed_after: 1 })
    .limit(CHANGED_ACCOUNTS)
    .lean<Pick<AccountRecord, '_id' | 'reminders_changed_after'>[]>();
  let hasMore = changed.length === CHANGED_ACCOUNTS;
  for (const { _id, reminders_changed_after } of changed) {
    const after = String(reminders_changed_after);
    const last = await markOpen(storedId(String(_id)), after, at);
    hasMore ||= last !== undefined;
    // Another change of the steps begins from the first invoice again.
    await Account.updateOne(
      { _id: String(_id), reminders_changed_after: after },
      last ? { $set: { reminders_changed_after: last } } : { $unset: { reminders_changed_after: 1 } },
    );
  }
  return hasMore;
}

/** @returns the id of the last invoice that was marked, or undefined when no more follow. */
async function markOpen(account_id: StoredId, after: string, at: Date): Promise<string | undefined> {
  const status = { $in: [...OPEN_STATUSES] };
  const open = await driverOf(Invoice)
    .find({ account_id, status, _id: { $gt: storedId(after) } } as object, {
      ...{ projection: { _id: 1 }, sort: { _id: 1 }, limit: MARKED_AT_ONCE },
      hint: { account_id: 1, status: 1, _id: 1 },
    })
    .toArray();
  const ids = open.map(({ _id }) => _id);
  await driverOf(Invoice).updateMany({ account_id, _id: { $in: ids }, status } as object, {
    $set: { reminder_due_at: at } as object,
  });
  return ids.length === MARKED_AT_ONCE ? String(ids.at(-1)) : undefined;
}
