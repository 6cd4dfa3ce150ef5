// Reconciles the deliveries of an endpoint after it was enabled, disabled or deleted. The transaction of that change
// stores a request, and the work follows the commit, because there may be a million deliveries. If the process dies,
// another one continues.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate } from '../../clock.ts';
import type { Session } from '../../mongo/connection.ts';
import { isDuplicate } from '../../mongo/errors.ts';
import { readAfterElection } from '../../mongo/read-after-election.ts';
import { openTries } from '../operations/round-try.ts';
import { collectFailures } from '../rounds.ts';
import {
  acrossAccounts,
  type Id,
  idField,
  newId,
  requiredIdField,
  type StoredId,
  storedId,
  tenant,
} from '../tenant.ts';
import { abandonDeliveries, hasPendingDeliveries, resumeDeliveries, suspendDeliveries } from './endpoint-deliveries.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';

const reconcileSchema = new Schema(
  {
    /** The id of the endpoint. */
    _id: idField,
    account_id: requiredIdField,
    /** An id that each change renews. Finishing the work of an earlier change must not finish this one. */
    change_id: requiredIdField,
    since: { type: Date, required: true },
    /**
     * The time until which a process may be suspending deliveries that other processes cannot see yet, so the request
     * stays.
     */
    suspending_until: Date,
  },
  { versionKey: false, strict: 'throw', collection: 'endpoint_reconciles' },
);
reconcileSchema.plugin(tenant);
reconcileSchema.index({ since: 1 });

interface Own {
  _id: Id;
  account_id: Id;
}

type ReconcileRecord = InferSchemaType<typeof reconcileSchema>;

export const EndpointReconcile = model('EndpointReconcile', reconcileSchema);

/** The time after which the process that made the change counts as dead, and another one reconciles. */
const ABANDONED_AFTER_MS = 30_000;
const BATCH = 100;
/** Longer than suspending takes, even for a million deliveries or a write that waits for an election. */
const SUSPENDING_MS = 5 * 60_000;

/**
 * Stores a request. Call `reconcileEndpoint` after the commit.
 * @param endpoint that was enabled, disabled or deleted in this transaction.
 * @param session absent before deliveries are suspended, because the endpoint may be enabled and its deliveries resumed
 * meanwhile.
 */
export async function requestReconcile(
  { _id, account_id }: { _id: StoredId; account_id: StoredId },
  session?: Session,
): Promise<void> {
  const now = agreedDate();
  const change = { change_id: storedId(newId()), since: now };
  const suspendingUntil = new Date(now.getTime() + SUSPENDING_MS);
  const request = () =>
    EndpointReconcile.updateOne(
      { _id, account_id },
      { $set: change, ...(session ? {} : { $max: { suspending_until: suspendingUntil } }) },
      { ...(session ? { session } : {}), upsert: true },
    );
  try {
    await request();
  } catch (error) {
    // Another process inserted the request at the same moment. In a transaction that is a conflict, which starts it again.
    if (session || !isDuplicate(error, EndpointReconcile.collection.name)) throw error;
    await request();
  }
}

/**
 * Makes the deliveries match the endpoint: resumed when it is enabled, suspended when disabled, given up when deleted.
 * Several processes may do it at once, because the one that ends last has seen the last change.
 * @returns how many deliveries resume.
 */
export async function reconcileEndpoint(accountId: Id, endpointId: Id, now: Date = agreedDate()): Promise<number> {
  const own = { _id: endpointId, account_id: accountId };
  let resumed = 0;
  for (;;) {
    const request = await EndpointReconcile.findOne(own).lean<ReconcileRecord>();
    const before = await stateOf(own);
    if (before === 'enabled') resumed += await resumeDeliveries(accountId, endpointId);
    else if (before === 'disabled') await suspendAll(own);
    else await abandonDeliveries(accountId, endpointId);
    if (request) await endRequest(own, request, now);
    if ((await stateOf(own)) === before) return resumed;
  }
}

/**
 * Suspends the deliveries under a request of its own. Suspending may take long or fail, and the endpoint may be enabled
 * and reconciled elsewhere meanwhile.
 */
async function suspendAll(own: Own): Promise<void> {
  if (!(await hasPendingDeliveries(own.account_id, own._id))) return;
  await requestReconcile({ _id: storedId(own._id), account_id: storedId(own.account_id) });
  await suspendDeliveries(own.account_id, own._id);
}

async function endRequest(own: Own, { change_id }: ReconcileRecord, now: Date): Promise<void> {
  const same = { ...own, change_id };
  const { deletedCount } = await EndpointReconcile.deleteOne({
    ...same,
    $or: [{ suspending_until: null }, { suspending_until: { $lte: now } }],
  });
  // The request goes behind those that no process has looked at lately.
  if (deletedCount === 0) await EndpointReconcile.updateOne(same, { $set: { since: now } });
}

/**
 * Continues the work of processes that died.
 * @param signal leaves the rest to the next round, here or in another process.
 * @returns how many deliveries resume.
 * @throws when an endpoint failed, after all others were reconciled.
 */
export async function reconcilePending(now: Date = agreedDate(), signal?: AbortSignal): Promise<number> {
  const pending = await EndpointReconcile.find({ since: { $lte: new Date(now.getTime() - ABANDONED_AFTER_MS) } })
    .setOptions(acrossAccounts)
    .sort({ since: 1 })
    .limit(BATCH)
    .lean<ReconcileRecord[]>();
  const tries = await openTries(
    'reconciled endpoints',
    now,
    pending.map(({ _id }) => storedId(String(_id))),
  );
  const failures = collectFailures();
  let resumed = 0;
  for (const { _id, account_id } of pending) {
    if (signal?.aborted) break;
    const own = { _id: String(_id), account_id: String(account_id) };
    const tried = await tries.run({ id: storedId(own._id), accountId: own.account_id }, async () => {
      resumed += await reconcileEndpoint(own.account_id, own._id, now);
    });
    if (tried.isDone) continue;
    if (tried.error) failures.add(own._id, tried.error);
    if (tried.setAside) failures.add(own._id, new Error(`set aside as error ${tried.setAside.id}`));
    // The request goes behind all others, so that a hundred failing ones do not delay the rest.
    if (tried.retryAt) await EndpointReconcile.updateOne(own, { $max: { since: now } });
  }
  failures.report((failed) => `${failed} of ${pending.length} endpoints could not be reconciled`);
  return resumed;
}

async function stateOf(own: Own): Promise<'enabled' | 'disabled' | 'gone'> {
  const endpoint = await readAfterElection(() => WebhookEndpoint.findOne(own, { enabled: 1 }).lean());
  if (!endpoint) return 'gone';
  return endpoint.enabled ? 'enabled' : 'disabled';
}
