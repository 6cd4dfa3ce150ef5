// Mail that did not arrive, of all accounts, grouped by cause. Each group is of the latest messages, up to a fixed number.
import type { PipelineStage } from 'mongoose';
import { Message } from '#libs/models/messages/message.ts';
import { acrossAccounts, firstIdAt } from '#libs/models/tenant.ts';
import { SEARCH_LIMIT_MS } from './delivery-search.ts';
import { causesOf, examined, indexOf, lastCause, OPEN_WALK } from './mail-search.ts';

/** The states whose messages are grouped. */
const GROUPED = ['retrying', 'failed', 'bounced', 'complained'] as const;

export interface MailFailureGroup {
  state: (typeof GROUPED)[number];
  /** See causeOf. */
  cause: string;
  messages: number;
  accounts: number;
  lastAt: Date;
}

/** Returns the groups of messages that were made since then, most first. */
export async function findMailFailures(since: Date, limit: number): Promise<MailFailureGroup[]> {
  const found = await Promise.all(GROUPED.map((state) => groupsOf(state, since, limit)));
  return found
    .flat()
    .toSorted((one, other) => other.messages - one.messages)
    .slice(0, limit);
}

async function groupsOf(state: MailFailureGroup['state'], since: Date, limit: number): Promise<MailFailureGroup[]> {
  const _id = { $gte: firstIdAt(since) };
  const retrying = { state: 'queued', attempts_made: { $gte: 1 }, _id };
  const walk =
    state === 'retrying'
      ? { ...OPEN_WALK, rest: retrying }
      : { filter: { 'recipients.state': state, _id }, sort: { _id: -1 } as const, hint: indexOf(state), rest: {} };
  const causes = state === 'retrying' ? [lastCause] : causesOf(state);
  const pipeline: PipelineStage[] = [
    ...examined(walk),
    { $project: { account_id: 1, updated_at: 1, cause: causes } },
    { $unwind: '$cause' },
    {
      $group: {
        _id: '$cause',
        messages: { $sum: 1 },
        accounts: { $addToSet: '$account_id' },
        lastAt: { $max: '$updated_at' },
      },
    },
    { $sort: { messages: -1, _id: 1 } },
    { $limit: limit },
    { $project: { messages: 1, lastAt: 1, accounts: { $size: '$accounts' } } },
  ];
  const options = { ...acrossAccounts, maxTimeMS: SEARCH_LIMIT_MS, hint: walk.hint } as object;
  const groups = await Message.aggregate<Omit<MailFailureGroup, 'state' | 'cause'> & { _id: string }>(pipeline).option(
    options,
  );
  return groups.map(({ _id: cause, ...group }) => ({ state, cause, ...group }));
}
