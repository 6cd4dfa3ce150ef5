// The operator's search for rendered documents of all accounts, and their speed.
import { sumBy } from 'es-toolkit/math/sumBy';
import { durationQuantile } from '#libs/duration-classes.ts';
import { Render, type RenderRecord, type RenderStatus } from '#libs/models/documents/render-record.ts';
import { acrossAccounts, type Id, isId, storedId } from '#libs/models/tenant.ts';
import { SEARCH_LIMIT_MS } from './delivery-search.ts';

export interface RenderSearch {
  /** The id of a record, its account or its request. */
  id?: string | undefined;
  statuses?: RenderStatus[] | undefined;
  errorClass?: string | undefined;
  /** The least duration of a document. */
  minMs?: number | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** The statuses of documents that a caller waited for and did not get. */
const FAILURES: RenderStatus[] = ['failed', 'expired', 'refused'];

/** Returns matches, newest first. */
export async function searchRenders(search: RenderSearch, page: { skip: number; limit: number }) {
  return Render.find(filterOf(search))
    .setOptions(acrossAccounts)
    .maxTimeMS(SEARCH_LIMIT_MS)
    .sort({ created_at: -1 })
    .skip(page.skip)
    .limit(page.limit)
    .lean<RenderRecord[]>();
}

/** Counts matches up to `max`. */
export async function countRenders(search: RenderSearch, max: number): Promise<number> {
  return Render.countDocuments(filterOf(search), { limit: max, maxTimeMS: SEARCH_LIMIT_MS }).setOptions(acrossAccounts);
}

function filterOf({ id, statuses, errorClass, minMs, from, to }: RenderSearch) {
  return {
    ...(statuses?.length ? { status: { $in: statuses } } : {}),
    ...(errorClass ? { error_class: errorClass } : {}),
    ...(minMs === undefined ? {} : { duration_ms: { $gte: minMs } }),
    ...(from || to ? { created_at: { ...(from ? { $gte: from } : {}), ...(to ? { $lt: to } : {}) } } : {}),
    ...(id ? filterOfId(id) : {}),
  };
}

function filterOfId(id: string) {
  if (!isId(id)) return { request_id: id };
  return { $or: [{ _id: storedId(id) }, { account_id: storedId(id) }, { request_id: id }] };
}

interface RenderMinute {
  at: Date;
  done: number;
  failed: number;
  /** The duration of done documents in milliseconds, within 5 %. Absent when there were none. */
  p50?: number;
  p95?: number;
}

export interface RenderSpeed {
  minutes: RenderMinute[];
  /** The duration over all minutes. */
  p50: number | undefined;
  p95: number | undefined;
}

/** The width of a class of durations, 10 %. The database sends counts of classes instead of durations. */
const CLASS_WIDTH = 1.1;

/** Counts the documents of each minute since then, with their durations. */
export async function findRenderSpeed(since: Date): Promise<RenderSpeed> {
  const rows = await Render.aggregate<{ _id: { at: Date; isDone: boolean; class: number }; count: number }>([
    // A document whose caller had disconnected is no failure.
    { $match: { created_at: { $gte: since }, status: { $in: ['done', ...FAILURES] } } },
    {
      $group: {
        _id: {
          at: { $dateTrunc: { date: '$created_at', unit: 'minute' } },
          isDone: { $eq: ['$status', 'done'] },
          class: { $floor: { $log: [{ $max: ['$duration_ms', 1] }, CLASS_WIDTH] } },
        },
        count: { $sum: 1 },
      },
    },
  ]).option({ ...acrossAccounts, maxTimeMS: SEARCH_LIMIT_MS } as object);

  const all = rows.filter(({ _id }) => _id.isDone);
  const byMinute = Map.groupBy(rows, ({ _id }) => _id.at.getTime());
  const minutes = [...byMinute].map(([at, own]): RenderMinute => {
    const done = own.filter(({ _id }) => _id.isDone);
    const [p50, p95] = [quantile(done, 0.5), quantile(done, 0.95)];
    return {
      at: new Date(at),
      done: sum(done),
      failed: sum(own) - sum(done),
      ...(p50 === undefined ? {} : { p50 }),
      ...(p95 === undefined ? {} : { p95 }),
    };
  });
  return {
    minutes: minutes.sort((a, b) => a.at.getTime() - b.at.getTime()),
    p50: quantile(all, 0.5),
    p95: quantile(all, 0.95),
  };
}

type Row = { _id: { class: number }; count: number };

const sum = (rows: Row[]) => sumBy(rows, ({ count }) => count);

const quantile = (rows: Row[], share: number) =>
  durationQuantile(
    rows.map(({ _id, count }) => [_id.class, count] as const),
    share,
    CLASS_WIDTH,
  );

export interface RenderFailureGroup {
  errorClass: string;
  status: RenderStatus;
  count: number;
  accounts: number;
  lastAt: Date;
}

/**
 * Returns documents since then that failed, by cause, most first.
 * @param own of one account: those among its latest documents.
 */
export async function findRenderFailures(
  since: Date,
  limit: number,
  own?: { accountId: Id; among: number },
): Promise<RenderFailureGroup[]> {
  const latest = own && [
    { $match: { account_id: storedId(own.accountId), created_at: { $gte: since } } },
    { $sort: { created_at: -1 as const } },
    { $limit: own.among },
  ];
  const groups = await Render.aggregate<{
    _id: { status: RenderStatus; error_class?: string };
    count: number;
    accounts: unknown[];
    lastAt: Date;
  }>([
    ...(latest ?? []),
    { $match: { created_at: { $gte: since }, status: { $in: FAILURES } } },
    {
      $group: {
        _id: { status: '$status', error_class: '$error_class' },
        count: { $sum: 1 },
        accounts: { $addToSet: '$account_id' },
        lastAt: { $max: '$created_at' },
      },
    },
    { $sort: { count: -1, lastAt: -1 } },
    { $limit: limit },
  ]).option({ ...acrossAccounts, maxTimeMS: SEARCH_LIMIT_MS } as object);
  return groups.map(({ _id, count, accounts, lastAt }) => ({
    errorClass: _id.error_class ?? '',
    status: _id.status,
    count,
    accounts: accounts.length,
    lastAt,
  }));
}
