// Makes the recurring invoices whose day has come on the calendar of their account. Any number of schedulers may do
// this at once.
import { partition } from 'es-toolkit/array/partition';
import { shuffle } from 'es-toolkit/array/shuffle';
import { NotDue } from '#libs/billing/recurring/due-occurrence.ts';
import { recordFailure, runRecurring, skipOccurrence } from '#libs/billing/recurring/run-recurring.ts';
import { runUnitOfWork, type UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { NothingToBill } from '#libs/billing/work/select-time.ts';
import { agreedDate } from '#libs/clock.ts';
import { dayIn, EARLIEST_ZONE } from '#libs/day.ts';
import { AppError, errorBody, problemText } from '#libs/errors.ts';
import { firstDue } from '#libs/models/accounts/due-in-zone.ts';
import {
  RecurringInvoice,
  type RecurringInvoiceRecord,
  type RunFailure,
} from '#libs/models/billing/recurring-invoice.ts';
import { RecurringRun } from '#libs/models/billing/recurring-run.ts';
import { openTries, type RoundTries, type SetAside } from '#libs/models/operations/round-try.ts';
import { collectFailures } from '#libs/models/rounds.ts';
import { acrossAccounts, type Id } from '#libs/models/tenant.ts';
import { isDuplicate } from '#libs/mongo/errors.ts';
import { ACCOUNTS_AT_ONCE, byAccount, eachAccount } from './by-account.ts';

/** The most invoices of one round. The next round follows at once with the rest. */
const ROUND_MAX = 2_000;
/**
 * The number of invoices in a row that another scheduler made. After these it is taken to go through the same account,
 * and gets the rest.
 */
const ELSEWHERE_MAX = 2;

type Candidate = Pick<RecurringInvoiceRecord, '_id' | 'account_id' | 'next_on' | 'retry_on' | 'next_index'>;

type Due = Candidate & { zone: string };

interface Round {
  at: Date;
  tries: RoundTries;
  /** The bytes of records that an account may keep. */
  quotaBytes: number | undefined;
  signal: AbortSignal | undefined;
  made: number;
  failures: ReturnType<typeof collectFailures>;
}

/**
 * Makes the invoices that are due.
 * @param signal ends the round early. The next round of any scheduler makes the rest.
 * @returns the number of invoices made, and whether more may be due.
 * @throws when one failed that no caller can repair, after all others were made.
 */
export async function runRecurringInvoices(
  at: Date = agreedDate(),
  { quotaBytes, signal }: { quotaBytes?: number | undefined; signal?: AbortSignal } = {},
): Promise<{ made: number; hasMore: boolean }> {
  const due = await firstDue(candidatesAt(at).cursor(), { at, most: ROUND_MAX, isDue });
  const tries = await openTries('recurring invoices', at);
  const round: Round = { at, tries, quotaBytes, signal, made: 0, failures: collectFailures() };
  const [suspects, others] = partition(due, ({ _id }) => round.tries.isSuspect(_id));
  await runAll(others, round, ACCOUNTS_AT_ONCE);
  // Suspects come last and one after the other. One that ends the process is then known, and has kept no other from
  // being made.
  await runAll(suspects, round, 1);
  round.failures.report((failed) => `${failed} recurring invoices could not be made`);
  return { made: round.made, hasMore: due.length === ROUND_MAX && round.made > 0 };
}

async function runAll(due: readonly Due[], round: Round, most: number): Promise<void> {
  // Schedulers that begin at different accounts seldom meet. If two make the same invoice, one works in vain.
  await eachAccount(shuffle(byAccount(due)), (accountId, found) => runOfAccount(accountId, found, round), most);
}

async function runOfAccount(accountId: Id, found: readonly Due[], round: Round) {
  const zone = found[0]?.zone ?? 'UTC'; // All are of this account.
  const today = dayIn(zone, round.at);
  // Another scheduler may have made them meanwhile.
  const due = await candidatesAt(round.at, { _id: { $in: found.map(({ _id }) => _id) } });
  let elsewhere = 0;
  for (const candidate of due) {
    let next: Candidate | undefined = candidate;
    while (next && isDue(next, today) && !round.signal?.aborted) {
      const outcome: Outcome = await runOne(accountId, next, round);
      elsewhere = outcome === 'made elsewhere' ? elsewhere + 1 : 0;
      if (elsewhere === ELSEWHERE_MAX) return;
      next = outcome === 'made elsewhere' ? undefined : outcome;
    }
  }
}

function isDue({ next_on, retry_on }: Candidate, today: string): boolean {
  return next_on !== undefined && next_on <= today && (retry_on === undefined || retry_on <= today);
}

/**
 * The state of a recurring invoice after an attempt: the changed record, or undefined when it needs nothing more in
 * this round.
 */
type Outcome = Candidate | 'made elsewhere' | undefined;

async function runOne(accountId: Id, candidate: Candidate, round: Round): Promise<Outcome> {
  let outcome: Outcome;
  const id = candidate._id;
  const tried = await round.tries.run({ id, accountId }, async () => {
    outcome = await makeNext(accountId, candidate, round);
  });
  if (tried.isDone) return outcome;
  if (tried.error) round.failures.add(String(id), tried.error);
  if (tried.setAside) await recordSetAside(tried.setAside, candidate, { accountId, round });
  return undefined;
}

async function makeNext(accountId: Id, candidate: Candidate, round: Round): Promise<Outcome> {
  const { at, quotaBytes } = round;
  try {
    const run = (unit: UnitOfWork) => runRecurring(unit, candidate._id, { isByHand: false, at });
    const { next } = (await runUnitOfWork({ accountId, by: { type: 'schedule' }, quotaBytes }, run)).result;
    round.made += 1;
    return next.status === 'Active' ? next : undefined;
  } catch (error) {
    return unlessMadeElsewhere(() => afterFailure(error, candidate, { accountId, at }));
  }
}

/** Stores the failure on the record if its owner can repair it. @throws any other error. */
async function afterFailure(
  error: unknown,
  candidate: Candidate,
  { accountId, at }: { accountId: Id; at: Date },
): Promise<Outcome> {
  if (error instanceof NothingToBill) {
    return (await runUnitOfWork({ accountId, by: { type: 'schedule' } }, (unit) => skipOccurrence(unit, candidate, at)))
      .result;
  }
  // The owner can repair this failure, so the record shows it.
  if (!(error instanceof AppError) || error.status >= 500) throw error;
  const failure = failureOf(error, at);
  await runUnitOfWork({ accountId, by: { type: 'schedule' } }, (unit) => recordFailure(unit, candidate, failure));
  return undefined;
}

async function unlessMadeElsewhere(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (isMadeElsewhere(error)) return 'made elsewhere';
    throw error;
  }
}

/** Shows the owner that it failed, with an id by which the operator finds the cause. */
async function recordSetAside(
  { id, error }: SetAside,
  candidate: Candidate,
  { accountId, round }: { accountId: Id; round: Round },
): Promise<void> {
  const failure: RunFailure = { message: `Internal server error ${id}`, at: round.at, code: 'internal_error' };
  round.failures.add(String(candidate._id), new Error(`set aside as error ${id}: ${error}`));
  try {
    await runUnitOfWork({ accountId, by: { type: 'schedule' } }, (unit) => recordFailure(unit, candidate, failure));
  } catch (second) {
    round.failures.add(String(candidate._id), second);
  }
}

function isMadeElsewhere(error: unknown): boolean {
  return error instanceof NotDue || isDuplicate(error, RecurringRun.collection.name);
}

function failureOf(error: AppError, at: Date): RunFailure {
  const { code, params, problems = [] } = errorBody(error);
  const message = problems.length > 0 ? problems.map(problemText).join('; ') : error.message;
  return { message, at, code, params, problems };
}

// The query covers all accounts, because the scheduler belongs to none.
function candidatesAt(at: Date, among: object = {}) {
  const day = dayIn(EARLIEST_ZONE, at);
  return RecurringInvoice.find({
    ...among,
    status: 'Active',
    next_on: { $lte: day },
    $or: [{ retry_on: null }, { retry_on: { $lte: day } }],
  })
    .setOptions(acrossAccounts)
    .sort({ next_on: 1 })
    .select({ account_id: 1, next_on: 1, retry_on: 1, next_index: 1 })
    .lean<Candidate[]>();
}
