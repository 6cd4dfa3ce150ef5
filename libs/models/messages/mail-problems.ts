// The mail of all accounts that does not leave, for the operator.
import { agreedDate } from '../../clock.ts';
import { acrossAccounts } from '../tenant.ts';
import { Message, type MessageRecord } from './message.ts';

/** Messages are counted up to this number. */
export const MESSAGES_COUNTED_MAX = 1_000;
/** A running mail service takes due messages within seconds. */
const OVERDUE_MS = 5 * 60_000;
/** A server that defers the first attempt of an unknown sender usually takes the second one. */
const ATTEMPTS_MIN = 2;

export interface MailProblems {
  /** Messages that are due for over five minutes and that no mail service has taken. */
  overdue: { count: number; oldestMs: number };
  /** Messages that the mail server of the installation did not take, at least twice. `reason` is the last one of the latest. */
  refused: { count: number; reason: string | undefined };
}

export async function readMailProblems(now: Date = agreedDate()): Promise<MailProblems> {
  const [overdue, refused] = await Promise.all([readOverdue(now), readRefused()]);
  return { overdue, refused };
}

async function readOverdue(now: Date): Promise<MailProblems['overdue']> {
  // Only messages that have not ended have a `due_at`.
  const filter = { due_at: { $lt: new Date(now.getTime() - OVERDUE_MS) } };
  const [count, oldest] = await Promise.all([
    countOf(filter),
    Message.findOne(filter).setOptions(acrossAccounts).sort({ due_at: 1 }).select({ due_at: 1 }).lean<MessageRecord>(),
  ]);
  return { count, oldestMs: oldest?.due_at ? now.getTime() - oldest.due_at.getTime() : 0 };
}

async function readRefused(): Promise<MailProblems['refused']> {
  const filter = { due_at: { $exists: true }, state: 'queued', attempts_made: { $gte: ATTEMPTS_MIN }, sender: null };
  const [count, latest] = await Promise.all([
    countOf(filter),
    Message.findOne(filter)
      .setOptions(acrossAccounts)
      .sort({ due_at: -1 })
      .select({ attempts: { $slice: -1 } })
      .lean<Pick<MessageRecord, 'attempts'>>(),
  ]);
  const last = latest?.attempts.at(-1);
  return { count, reason: last && [last.code, last.text].filter(Boolean).join(' ') };
}

function countOf(filter: object): Promise<number> {
  return Message.countDocuments(filter, { limit: MESSAGES_COUNTED_MAX, hint: { due_at: 1 } }).setOptions(
    acrossAccounts,
  );
}
