// Reads how much of its limits an account uses, and its failures. Each query reads along an index and stops at a fixed number.
import pLimit from 'p-limit';
import { Counter } from '#libs/models/counter.ts';
import { sumFiles } from '#libs/models/documents/batch-file.ts';
import { DocumentBatch } from '#libs/models/documents/document-batch.ts';
import { Render, type RenderStatus } from '#libs/models/documents/render-record.ts';
import { findSetAside, type RoundTryRecord } from '#libs/models/operations/round-try.ts';
import { driverOf } from '#libs/models/records.ts';
import { type Id, type StoredId, storedId } from '#libs/models/tenant.ts';
import { Delivery, OF_ENDPOINT_BY_STATUS } from '#libs/models/webhooks/delivery.ts';
import { SEARCH_LIMIT_MS } from './delivery-search.ts';
import { findRenderFailures, type RenderFailureGroup } from './render-search.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const CHART_MINUTES = 60;
/** The number of documents, and of dead deliveries of one endpoint, at which counting stops. */
const USAGE_COUNTED_MAX = 10_000;
export const DEAD_COUNTED_MAX = 1_000;
const GROUPS_SHOWN = 20;
/** The records that are set aside in the whole system. More than that are a fault of the system, not of an account. */
const SET_ASIDE_READ = 1_000;
const COUNTS_AT_ONCE = 10;

interface DocumentMinute {
  at: Date;
  done: number;
  /** Documents that the caller asked for and did not get. */
  failed: number;
}

export interface AccountUsage {
  recordBytes: number;
  fileBytes: number;
  /** The number of records by kind, such as `invoices`. Undefined for an account without counts. */
  records: { kind: string; count: number }[] | undefined;
  /** The documents that were asked for in the last 60 seconds, counted up to USAGE_COUNTED_MAX. */
  documentsNow: number;
  /** The last hour, among the latest USAGE_COUNTED_MAX documents. */
  documents: DocumentMinute[];
  batches: { unfinished: number; kept: number };
  /** Dead and suspended deliveries by the id of the endpoint, each counted up to DEAD_COUNTED_MAX. */
  undelivered: Map<string, { dead: number; held: number }>;
  /** The documents of the last day that were not rendered, by cause, among the latest USAGE_COUNTED_MAX. */
  renderFailures: RenderFailureGroup[];
  setAside: RoundTryRecord[];
}

export async function readAccountUsage(accountId: Id, endpointIds: readonly StoredId[]): Promise<AccountUsage> {
  const now = Date.now();
  const account_id = storedId(accountId);
  const [counter, fileBytes, documentsNow, documents, batches, undelivered, renderFailures, setAside] =
    await Promise.all([
      Counter.findById(accountId).select({ stored_bytes: 1, counts: 1 }).lean<{
        stored_bytes?: number;
        counts?: Record<string, number>;
      }>(),
      sumFiles(account_id),
      countDocuments(account_id, new Date(now - MINUTE_MS)),
      findDocumentMinutes(account_id, new Date(now - (CHART_MINUTES + 1) * MINUTE_MS)),
      countBatches(account_id),
      countUndelivered(account_id, endpointIds),
      findRenderFailures(new Date(now - DAY_MS), GROUPS_SHOWN, { accountId, among: USAGE_COUNTED_MAX }),
      findSetAside(SET_ASIDE_READ),
    ]);
  return {
    recordBytes: Math.max(0, counter?.stored_bytes ?? 0),
    fileBytes,
    records: counter?.counts && recordsOf(counter.counts),
    documentsNow,
    documents,
    batches,
    undelivered,
    renderFailures,
    setAside: setAside.filter((one) => String(one.account_id) === accountId),
  };
}

/** Adds up the counts of all statuses of a kind, see record-counts.ts. */
function recordsOf(counts: Readonly<Record<string, number>>): { kind: string; count: number }[] {
  const groups = Map.groupBy(Object.entries(counts), ([name]) => name.split('/', 1)[0] ?? name);
  return [...groups]
    .map(([kind, own]) => ({ kind, count: own.reduce((sum, [, count]) => sum + count, 0) }))
    .toSorted((one, other) => one.kind.localeCompare(other.kind));
}

async function countDocuments(account_id: StoredId, since: Date): Promise<number> {
  const options = { limit: USAGE_COUNTED_MAX, maxTimeMS: SEARCH_LIMIT_MS };
  return Render.countDocuments({ account_id, created_at: { $gte: since } }, options);
}

async function findDocumentMinutes(account_id: StoredId, since: Date): Promise<DocumentMinute[]> {
  const done: RenderStatus = 'done';
  const cancelled: RenderStatus = 'cancelled';
  const rows = await Render.aggregate<{ _id: Date; done: number; failed: number }>([
    { $match: { account_id, created_at: { $gte: since } } },
    { $sort: { created_at: -1 } },
    { $limit: USAGE_COUNTED_MAX },
    {
      $group: {
        _id: { $dateTrunc: { date: '$created_at', unit: 'minute' } },
        done: { $sum: { $cond: [{ $eq: ['$status', done] }, 1, 0] } },
        failed: { $sum: { $cond: [{ $in: ['$status', [done, cancelled]] }, 0, 1] } },
      },
    },
    { $sort: { _id: 1 } },
  ]).option({ maxTimeMS: SEARCH_LIMIT_MS });
  return rows.map(({ _id, ...counts }) => ({ at: _id, ...counts }));
}

/** Counts the batches of an account. It keeps a hundred at most. */
async function countBatches(account_id: StoredId): Promise<AccountUsage['batches']> {
  const batches = driverOf(DocumentBatch);
  const [unfinished, kept] = await Promise.all([
    batches.countDocuments({ account_id, slot: { $exists: true } } as object, { maxTimeMS: SEARCH_LIMIT_MS }),
    batches.countDocuments({ account_id }, { maxTimeMS: SEARCH_LIMIT_MS }),
  ]);
  return { unfinished, kept };
}

async function countUndelivered(account_id: StoredId, endpointIds: readonly StoredId[]) {
  const limit = pLimit(COUNTS_AT_ONCE);
  const count = (endpoint_id: StoredId, status: 'dead' | 'held') =>
    limit(() =>
      Delivery.countDocuments(
        { account_id, endpoint_id, status },
        { limit: DEAD_COUNTED_MAX, maxTimeMS: SEARCH_LIMIT_MS, hint: OF_ENDPOINT_BY_STATUS },
      ),
    );
  const counts = endpointIds.map(async (id) => {
    const [dead, held] = await Promise.all([count(id, 'dead'), count(id, 'held')]);
    return [String(id), { dead, held }] as const;
  });
  return new Map(await Promise.all(counts));
}
