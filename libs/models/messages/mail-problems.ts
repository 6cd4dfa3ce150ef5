// The mail of all accounts that does not leave, for the operator. Every query stops at a fixed number of messages.
import { agreedDate } from '../../clock.ts';
import { acrossAccounts } from '../tenant.ts';
import { type MailAttempt, Message, type MessageRecord } from './message.ts';

/** Messages are counted up to this number. */
export const MESSAGES_COUNTED_MAX = 1_000;
/** The messages that are examined for refusals, those that are due first. Thousands may be planned for later. */
export const MESSAGES_EXAMINED_MAX = 5_000;
/** A running mail service takes due messages within seconds. */
const OVERDUE_MS = 5 * 60_000;
/** A server that defers the first attempt of an unknown sender usually takes the second one. */
const ATTEMPTS_MIN = 2;
/** The characters of a mail server's answer that are shown. */
const ANSWER_SHOWN = 200;
/** The part of an address before its domain. It has at most 64 characters. */
const LOCAL_PART = /(?:"[^"]{1,64}"|[^\s<>@:;,()"]{1,64})@/g;

/** The index of the poller. Only messages that have not ended are in it. */
const BY_DUE_TIME = { due_at: 1 } as const;

export interface MailProblems {
  /** Messages that are due for over five minutes and that no mail service has taken. */
  overdue: { count: number; oldestMs: number };
  /** Messages that the mail server of the installation refused at least twice. `answer` is the latest one, masked and cut. */
  refused: { count: number; answer: string };
}

export async function readMailProblems(now: Date = agreedDate()): Promise<MailProblems> {
  const [overdue, refused] = await Promise.all([readOverdue(now), readRefused()]);
  return { overdue, refused };
}

async function readOverdue(now: Date): Promise<MailProblems['overdue']> {
  const filter = { due_at: { $lt: new Date(now.getTime() - OVERDUE_MS) } };
  const [count, oldest] = await Promise.all([
    countOf(filter),
    Message.findOne(filter).setOptions(acrossAccounts).sort({ due_at: 1 }).select({ due_at: 1 }).lean<MessageRecord>(),
  ]);
  return { count, oldestMs: oldest?.due_at ? now.getTime() - oldest.due_at.getTime() : 0 };
}

async function readRefused(): Promise<MailProblems['refused']> {
  const [found] = await Message.aggregate<{ count: number; last?: MailAttempt | null }>([
    { $match: { due_at: { $exists: true } } },
    { $sort: { due_at: 1 } },
    { $limit: MESSAGES_EXAMINED_MAX },
    { $match: { state: 'queued', attempts_made: { $gte: ATTEMPTS_MIN }, sender: null } },
    { $limit: MESSAGES_COUNTED_MAX },
    { $project: { last: { $last: '$attempts' } } },
    { $group: { _id: null, count: { $sum: 1 }, last: { $top: { sortBy: { 'last.at': -1 }, output: '$last' } } } },
  ]).option({ ...acrossAccounts, hint: BY_DUE_TIME } as object);
  return { count: found?.count ?? 0, answer: answerOf(found?.last ?? {}) };
}

/** Returns the answer without names of people: a server may repeat the address of a recipient. */
function answerOf({ code, text }: Pick<MailAttempt, 'code' | 'text'>): string {
  const answer = [code, text].filter(Boolean).join(' ').replaceAll(LOCAL_PART, '(masked)@');
  return answer.slice(0, ANSWER_SHOWN) || 'no answer';
}

function countOf(filter: object): Promise<number> {
  return Message.countDocuments(filter, { limit: MESSAGES_COUNTED_MAX, hint: BY_DUE_TIME }).setOptions(acrossAccounts);
}
