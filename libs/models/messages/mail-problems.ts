// The mail of all accounts that does not leave, for the operator. Every query stops at a fixed number of messages.
import { partition } from 'es-toolkit/array/partition';
import { agreedDate } from '../../clock.ts';
import { maskedReply } from '../../mail/masked.ts';
import { findDueSoon, type Overdue, overdueAt, overdueOf } from '../overdue.ts';
import { acrossAccounts, wireId } from '../tenant.ts';
import { type MailAttempt, Message } from './message.ts';

/** Messages are counted up to this number. */
export const MESSAGES_COUNTED_MAX = 1_000;
/** The most messages that a query of operators examines. Thousands may be planned for later. */
export const MESSAGES_EXAMINED_MAX = 5_000;
/** A server that defers the first attempt of an unknown sender usually takes the second one. */
const ATTEMPTS_MIN = 2;
/** The characters of a mail server's answer that are shown. */
const ANSWER_SHOWN = 200;

/** The index of the poller. Only messages that have not ended are in it. */
const BY_DUE_TIME = { due_at: 1 } as const;

export interface MailProblems {
  /** Messages that are due for over five minutes and that no mail service has taken. */
  overdue: Overdue;
  /** Messages that the mail server of the installation refused at least twice. `answer` is the latest one, masked and cut. */
  refused: { count: number; answer: string };
}

export async function readMailProblems(now: Date = agreedDate()): Promise<MailProblems> {
  const [overdue, refused] = await Promise.all([readOverdueMail(now), readRefused()]);
  return { overdue, refused };
}

/**
 * Reads how much mail is overdue. Messages for a mail server of their account wait while another one of them is sent,
 * because such a server gets one at a time.
 */
export async function readOverdueMail(now: Date = agreedDate()): Promise<Overdue> {
  const isOwnInFlight = { sender: { $exists: true }, lease_until: { $gt: now } };
  const found = await findDueSoon(Message, { $or: [overdueAt({ now }), isOwnInFlight] }, { now });
  const [inFlight, free] = partition(found, ({ lease_until }) => lease_until !== undefined && lease_until > now);
  const served = new Set(inFlight.map(({ account_id }) => wireId(account_id)));
  const overdue = free.filter(({ sender, account_id }) => sender === undefined || !served.has(wireId(account_id)));
  return overdueOf(overdue, MESSAGES_COUNTED_MAX, { now });
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
  return maskedReply([code, text].filter(Boolean).join(' '), ANSWER_SHOWN) || 'no answer';
}
