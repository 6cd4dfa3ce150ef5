// Reads the outcomes of deliveries of all accounts: failures by cause, ended ones by minute, and open ones.

import { acrossAccounts, type Id } from '#libs/models/tenant.ts';
import { Delivery, type DeliveryStatus, RETRYING, SETTLED, SETTLED_DEAD } from '#libs/models/webhooks/delivery.ts';
import { lastOf, SEARCH_LIMIT_MS } from './delivery-search.ts';

export interface FailureGroup {
  endpointId: Id;
  accountId: Id;
  /** The error class and, if there was a response, its status: `status 500`, `timeout`. */
  cause: string;
  /** The number of dead and held ones. */
  settled: number;
  /** The number that is still retried. */
  retrying: number;
  lastAt: Date;
}

/** Returns deliveries made since then whose last attempt failed, by endpoint and cause, most first. */
export async function findFailureGroups(since: Date, limit: number): Promise<FailureGroup[]> {
  const groups = await Delivery.aggregate<{
    _id: { endpoint_id: unknown; account_id: unknown; error_class: string; response_status?: number };
    settled: number;
    retrying: number;
    lastAt: Date;
  }>([
    { $match: { status: { $in: ['dead', 'held', 'pending'] }, created_at: { $gte: since } } },
    { $set: { error_class: lastOf('error_class'), response_status: lastOf('response_status') } },
    { $match: { error_class: { $type: 'string' } } },
    {
      $group: {
        _id: {
          endpoint_id: '$endpoint_id',
          account_id: '$account_id',
          error_class: '$error_class',
          response_status: '$response_status',
        },
        settled: { $sum: { $cond: [{ $eq: ['$status', 'pending'] }, 0, 1] } },
        retrying: { $sum: { $cond: [{ $eq: ['$status', 'pending'] }, 1, 0] } },
        lastAt: { $max: { $last: '$attempts.at' } },
      },
    },
    { $sort: { settled: -1, retrying: -1, lastAt: -1 } },
    { $limit: limit },
  ]).option({ ...acrossAccounts, maxTimeMS: SEARCH_LIMIT_MS } as object);
  return groups.map(({ _id, settled, retrying, lastAt }) => ({
    endpointId: String(_id.endpoint_id),
    accountId: String(_id.account_id),
    cause: _id.response_status ? `${_id.error_class} ${_id.response_status}` : _id.error_class,
    settled,
    retrying,
    lastAt,
  }));
}

export interface OutcomeMinute {
  at: Date;
  delivered: number;
  dead: number;
}

/**
 * Counts the deliveries that ended in each minute since then. An open page asks every few seconds, so no delivery is
 * read: one index counts the ended ones, another the dead ones, and the rest was delivered.
 */
export async function findOutcomes(since: Date): Promise<OutcomeMinute[]> {
  const [ended, dead] = await Promise.all([
    countByMinute({ settled_at: { $gte: since } }, SETTLED),
    countByMinute({ settled_at: { $gte: since }, status: 'dead' }, SETTLED_DEAD),
  ]);
  const deadAt = new Map(dead.map(({ _id, count }) => [_id.getTime(), count]));
  return ended.map(({ _id, count }) => {
    // A delivery may have become dead between the two counts.
    const died = Math.min(count, deadAt.get(_id.getTime()) ?? 0);
    return { at: _id, delivered: count - died, dead: died };
  });
}

/** Counts by minute. @param hint an index that has all fields of the filter. */
async function countByMinute(filter: object, hint: string) {
  return Delivery.aggregate<{ _id: Date; count: number }>([
    { $match: filter },
    { $group: { _id: { $dateTrunc: { date: '$settled_at', unit: 'minute' } }, count: { $sum: 1 } } },
  ]).option({ ...acrossAccounts, maxTimeMS: SEARCH_LIMIT_MS, hint } as object);
}

/** Counts the deliveries in each open state, up to `max` each. No delivery is read here either. */
export async function countOpenDeliveries(max: number) {
  const count = (filter: { status: DeliveryStatus }) =>
    Delivery.countDocuments(filter, { limit: max, maxTimeMS: SEARCH_LIMIT_MS }).setOptions(acrossAccounts);
  const [pending, retrying, dead, held] = await Promise.all([
    count({ status: 'pending' }),
    count(RETRYING),
    count({ status: 'dead' }),
    count({ status: 'held' }),
  ]);
  return { pending, retrying, dead, held };
}
