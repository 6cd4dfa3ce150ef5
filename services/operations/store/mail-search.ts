// The operator's search for messages of all accounts. Every search walks one index, and looks at a fixed number of messages at most.
import type { PipelineStage } from 'mongoose';
import { RETRIED_WHEN, type Retried } from '#libs/billing/messages/retry-message.ts';
import { agreedDate } from '#libs/clock.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { MESSAGES_EXAMINED_MAX } from '#libs/models/messages/mail-problems.ts';
import {
  ENDED_BADLY,
  type MailAttempt,
  Message,
  type MessageRecord,
  normalAddress,
  RECIPIENT_STATES,
} from '#libs/models/messages/message.ts';
import type { MessageKind } from '#libs/models/messages/message-kinds.ts';
import { FOLLOWING } from '#libs/models/messages/message-states.ts';
import { acrossAccounts, firstIdAt, type Id, isId, storedId } from '#libs/models/tenant.ts';
import { SEARCH_LIMIT_MS } from './delivery-search.ts';
import { causeExpression } from './mail-causes.ts';

/** `waiting`: any state that ends by itself. `retrying`: queued, after an attempt that failed. */
export const MAIL_STATES = ['waiting', 'retrying', ...RECIPIENT_STATES] as const;
export type MailState = (typeof MAIL_STATES)[number];

/** The states of messages that have not ended. */
const IN_OPEN_STATES: readonly MailState[] = ['waiting', 'retrying', ...FOLLOWING];
/** The states of recipients whose cause is their own. */
const OF_RECIPIENTS: readonly MailState[] = ['failed', 'bounced', 'complained'];

export const MAIL_SERVERS = ['installation', 'own'] as const;
type MailServerOf = (typeof MAIL_SERVERS)[number];

export interface MailSearch {
  /** The id of a message or of an account, or a `Message-ID`. */
  id?: string | undefined;
  accountId?: Id | undefined;
  /** The state of a recipient, or one of the message that it follows. */
  state?: MailState | undefined;
  kind?: MessageKind | undefined;
  /** `own`: sent by a server of the account. */
  server?: MailServerOf | undefined;
  /** The number of the document. */
  number?: string | undefined;
  /** The whole address of a recipient. */
  address?: string | undefined;
  /** See causeOf. */
  cause?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** The fields of a message that a list shows. */
export type MailRow = Retried &
  Pick<MessageRecord, '_id' | 'account_id' | 'kind' | 'document' | 'sender' | 'created_at'> & {
    /** The last attempt. */
    last?: MailAttempt | null;
  };

/** A part of an index, and further conditions on the messages in it. */
interface Walk {
  filter: Record<string, unknown>;
  sort: Record<string, 1 | -1>;
  hint: string | Record<string, 1>;
  rest: Record<string, unknown>;
}

/** Returns matches: those that wait in the order in which they are due, others newest first. */
export async function searchMail(search: MailSearch, page: { skip: number; limit: number }): Promise<MailRow[]> {
  const walk = await walkOf(search);
  return ask<MailRow>(walk, [...examined(walk), { $skip: page.skip }, { $limit: page.limit }, { $project: ROW }]);
}

const ROW = {
  ...{ account_id: 1, kind: 1, document: 1, sender: 1, created_at: 1, state: 1, attempts_made: 1, next_at: 1 },
  ...{ lease_until: 1, unknown_at: 1, resent_as: 1, erased_at: 1 },
  recipients: { address: 1, role: 1, state: 1, code: 1 },
  last: { $last: '$attempts' },
} as const;

export interface MailCount {
  /** The number of matches among the messages that the search looks at. */
  matches: number;
  /** True when the search looked at as many messages as it may, so that there may be more. */
  isCut: boolean;
}

export async function countMail(search: MailSearch): Promise<MailCount> {
  const walk = await walkOf(search);
  return counted(walk, {});
}

/** Counts the matches that a retry would do something with. */
export async function countRetried(search: MailSearch, now = agreedDate()): Promise<MailCount> {
  return counted(await walkOf(search), retriedWhen(search, now));
}

/** Counts both in one pass over the messages. */
async function counted({ rest, ...walk }: Walk, condition: object): Promise<MailCount> {
  const matches = [{ $match: rest }, { $match: condition }, { $count: 'number' }];
  const stages = [...examined({ ...walk, rest: {} }), { $facet: { looked: [{ $count: 'number' }], matches } }];
  const [found] = await ask<Record<'looked' | 'matches', { number: number }[]>>(walk, stages as PipelineStage[]);
  const numberOf = (name: 'looked' | 'matches') => found?.[name][0]?.number ?? 0;
  return { matches: numberOf('matches'), isCut: numberOf('looked') >= MESSAGES_EXAMINED_MAX };
}

/** Returns the next matches of a run with which a retry would do something, the latest first. @param run `position` is the id of the last one. */
export async function nextRetried(
  search: MailSearch,
  run: { before: Date; position: string | undefined; limit: number },
  now = agreedDate(),
): Promise<Pick<MessageRecord, '_id' | 'account_id'>[]> {
  const walk = await walkOf(search);
  // Messages that the run made itself have later ids than its start.
  const _id = { ...idsIn(search), $lt: run.position ? storedId(run.position) : firstIdAt(run.before) };
  const isById = '_id' in walk.sort;
  const filter = isById ? { ...walk.filter, _id } : walk.filter;
  return ask<Pick<MessageRecord, '_id' | 'account_id'>>(walk, [
    ...examined({ ...walk, filter, rest: { ...walk.rest, ...(isById ? {} : { _id }) } }),
    { $match: retriedWhen(search, now) },
    { $sort: { _id: -1 } },
    { $limit: run.limit },
    { $project: { account_id: 1 } },
  ]);
}

/** True of a search for messages that can be retried: those that failed, or wait after a failed attempt. */
export function isRetriable({ state, address }: MailSearch): boolean {
  // The record of a run must not have an address.
  return (state === 'failed' || state === 'retrying') && address === undefined;
}

function retriedWhen({ state }: MailSearch, now: Date): object {
  return state === 'failed' ? RETRIED_WHEN.failed() : RETRIED_WHEN.waiting(now);
}

/** Returns the stages that every search begins with. */
export function examined({ filter, sort, rest }: Pick<Walk, 'filter' | 'sort' | 'rest'>): PipelineStage[] {
  return [{ $match: filter }, { $sort: sort }, { $limit: MESSAGES_EXAMINED_MAX }, { $match: rest }];
}

function ask<Row>({ hint }: Pick<Walk, 'hint'>, pipeline: PipelineStage[]): Promise<Row[]> {
  return Message.aggregate<Row>(pipeline).option({ ...acrossAccounts, maxTimeMS: SEARCH_LIMIT_MS, hint } as object);
}

const NEWEST = { _id: -1 } as const;

async function walkOf(search: MailSearch): Promise<Walk> {
  const named = search.id === undefined ? {} : await idOf(search.id);
  const accountId = named.accountId ?? search.accountId;
  const rest = restOf({ ...search, ...(accountId ? { accountId } : {}) }, named.messageId);
  const ids = idsIn(search);
  const inTime = ids ? { _id: ids } : {};
  if (named.id) return { filter: { _id: storedId(named.id) }, sort: NEWEST, hint: { _id: 1 }, rest };
  if (accountId) return { ...walkOfAccount(accountId, search, inTime), rest };
  const { state } = search;
  if (state !== undefined && IN_OPEN_STATES.includes(state)) return { ...OPEN_WALK, rest: { ...rest, ...inTime } };
  const index = indexOf(state);
  if (index) return { filter: { 'recipients.state': state, ...inTime }, sort: NEWEST, hint: index, rest };
  return { filter: inTime, sort: NEWEST, hint: { _id: 1 }, rest };
}

/** The messages that have not ended. They alone are in the index of the poller. */
export const OPEN_WALK = {
  filter: { due_at: { $gt: new Date(0) } },
  sort: { due_at: 1 },
  hint: { due_at: 1 },
} as const satisfies Omit<Walk, 'rest'>;

/** Returns the index over all accounts that has the recipients of a state. */
export function indexOf(state: MailState | undefined): string | undefined {
  return (ENDED_BADLY.states as readonly (MailState | undefined)[]).includes(state) ? ENDED_BADLY.name : undefined;
}

function walkOfAccount(accountId: Id, { address, state }: MailSearch, inTime: object): Omit<Walk, 'rest'> {
  const account_id = storedId(accountId);
  const [field, value] =
    address !== undefined
      ? ['recipients.address', normalAddress(address)]
      : (FOLLOWING as readonly unknown[]).includes(state)
        ? ['state', state]
        : state === 'retrying'
          ? ['state', 'queued']
          : [];
  if (field === undefined) return { filter: { account_id, ...inTime }, sort: NEWEST, hint: { account_id: 1, _id: 1 } };
  const filter = { account_id, [field]: value, ...inTime };
  return { filter, sort: NEWEST, hint: { account_id: 1, [field]: 1, _id: 1 } };
}

/** Returns the conditions of a search, each of them also where the index has it. */
function restOf({ accountId, state, kind, server, number, address, cause }: MailSearch, messageId: string | undefined) {
  return {
    ...(accountId ? { account_id: storedId(accountId) } : {}),
    ...(messageId ? { message_id: messageId } : {}),
    ...stateIs(state),
    ...(kind ? { kind } : {}),
    ...(server ? { sender: { $exists: server === 'own' } } : {}),
    ...(number ? { 'document.number': number } : {}),
    ...(address ? { 'recipients.address': normalAddress(address) } : {}),
    // A literal: a cause that begins with a dollar is no field.
    ...(cause ? { $expr: causeIs(state, { $literal: cause }) } : {}),
  };
}

function stateIs(state: MailState | undefined): object {
  if (state === undefined) return {};
  if (state === 'waiting') return { state: { $in: FOLLOWING } };
  if (state === 'retrying') return { state: 'queued', attempts_made: { $gte: 1 } };
  return (FOLLOWING as readonly string[]).includes(state) ? { state } : { 'recipients.state': state };
}

const LAST = { $last: '$attempts' };

/** Returns the cause of the last attempt. */
export const lastCause = { $let: { vars: { last: LAST }, in: causeExpression('$$last.code', '$$last.text') } };

/** Returns the causes of the recipients in this state. One without words of its own has the cause of the last attempt. */
export function causesOf(state: string): object {
  const own = { $filter: { input: '$recipients', as: 'one', cond: { $eq: ['$$one.state', state] } } };
  const isSilent = { $not: [{ $or: [{ $ifNull: ['$$one.code', false] }, { $ifNull: ['$$one.text', false] }] }] };
  const cause = { $cond: [isSilent, lastCause, causeExpression('$$one.code', '$$one.text')] };
  return { $setUnion: [{ $map: { input: own, as: 'one', in: cause } }, []] };
}

function causeIs(state: MailState | undefined, cause: object): object {
  return state !== undefined && OF_RECIPIENTS.includes(state)
    ? { $in: [cause, causesOf(state)] }
    : { $eq: [lastCause, cause] };
}

/** Returns the ids of the time of the search. */
function idsIn({ from, to }: MailSearch): object | undefined {
  if (!from && !to) return undefined;
  return { ...(from ? { $gte: firstIdAt(from) } : {}), ...(to ? { $lt: firstIdAt(to) } : {}) };
}

/** A `Message-ID` has the id of its message before the domain. */
const MESSAGE_ID = /^<?([0-9a-f-]{36})@[^<>@\s]+>?$/i;

interface Named {
  id?: Id;
  accountId?: Id;
  messageId?: string;
}

async function idOf(text: string): Promise<Named> {
  const [, id] = MESSAGE_ID.exec(text) ?? [];
  if (isId(id)) return { id, messageId: `<${text.replace(/^<|>$/g, '')}>` };
  if (!isId(text)) return NOTHING;
  return (await Account.exists({ _id: text })) ? { accountId: text } : { id: text };
}

/** No message has this id. */
const NOTHING: Named = { id: '00000000-0000-0000-0000-000000000000' };
