// What is still to be done with the deliveries of an endpoint that was enabled, disabled or deleted. Written in the transaction of
// that change, or before what may come too late for it, and done after it: there may be a million of them, and whoever is to do it may die.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate } from '../../clock.ts';
import type { Session } from '../../mongo/connection.ts';
import { readAfterElection } from '../../mongo/read-after-election.ts';
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
import { abandonDeliveries, Delivery, holdDeliveries, releaseDeliveries } from './delivery.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';

const errandSchema = new Schema(
  {
    /** The endpoint's. */
    _id: idField,
    account_id: requiredIdField,
    /** Another one for each change: what was done for an earlier one is not all. */
    change_id: requiredIdField,
    since: { type: Date, required: true },
    /** Until then somebody may be holding deliveries: whoever settles it meanwhile has not seen them, and leaves it for another look. */
    kept_until: Date,
  },
  { versionKey: false, strict: 'throw', collection: 'endpoint_errands' },
);
errandSchema.plugin(tenant);
errandSchema.index({ since: 1 });

interface Own {
  _id: Id;
  account_id: Id;
}

type ErrandRecord = InferSchemaType<typeof errandSchema>;

export const EndpointErrand = model('EndpointErrand', errandSchema);

/** After these milliseconds whoever made the change is taken to be gone, and somebody else does what it left. */
const LEFT_MS = 30_000;
const LOOKED_AT = 100;
/** Longer than anybody holds what he has begun to hold: a million deliveries, or one whose write waits for an election. */
const HOLDING_MS = 5 * 60_000;

/**
 * @param endpoint one that was enabled, disabled or deleted in this transaction: `settleEndpoint` is to follow the commit.
 * @param session left out by who is about to hold deliveries: their endpoint may be enabled meanwhile, and what was held before be released.
 */
export async function requestReconcile(
  { _id, account_id }: { _id: StoredId; account_id: StoredId },
  session?: Session,
): Promise<void> {
  const now = agreedDate();
  const change = { account_id, change_id: storedId(newId()), since: now };
  // By the key alone, which no two accounts share: only so the server itself tries again when two make it at once.
  await EndpointErrand.updateOne(
    { _id },
    { $set: change, ...(session ? {} : { $max: { kept_until: new Date(now.getTime() + HOLDING_MS) } }) },
    { ...(session ? { session } : {}), upsert: true, ...acrossAccounts },
  );
}

/**
 * Makes the deliveries what the endpoint is now: released when it is enabled, held when it is disabled, given up when it is gone.
 * Any number of processes may do it at once: who ends last has seen the last change. @returns how many go out again.
 */
export async function settleEndpoint(accountId: Id, endpointId: Id, now: Date = agreedDate()): Promise<number> {
  const own = { _id: endpointId, account_id: accountId };
  let released = 0;
  for (;;) {
    const errand = await EndpointErrand.findOne(own).lean<ErrandRecord>();
    const before = await stateOf(own);
    if (before === 'enabled') released += await releaseDeliveries(accountId, endpointId);
    else if (before === 'disabled') await holdAll(own);
    else await abandonDeliveries(accountId, endpointId);
    if (errand) await endErrand(own, errand, now);
    if ((await stateOf(own)) === before) return released;
  }
}

/** It may take long, be broken off, and meanwhile the endpoint be enabled and settled by somebody else: its errand is not to end before. */
async function holdAll(own: Own): Promise<void> {
  if (!(await Delivery.exists({ account_id: own.account_id, endpoint_id: own._id, status: 'pending' }))) return;
  await requestReconcile({ _id: storedId(own._id), account_id: storedId(own.account_id) });
  await holdDeliveries(own.account_id, own._id);
}

async function endErrand(own: Own, { change_id }: ErrandRecord, now: Date): Promise<void> {
  const same = { ...own, change_id };
  const { deletedCount } = await EndpointErrand.deleteOne({
    ...same,
    $or: [{ kept_until: null }, { kept_until: { $lte: now } }],
  });
  // Behind those that nobody has looked at lately.
  if (deletedCount === 0) await EndpointErrand.updateOne(same, { $set: { since: now } });
}

/**
 * Does what was left by processes that died.
 * @param signal leaves the rest to the next look, here or in another process.
 * @returns how many deliveries go out again.
 */
export async function reconcilePending(now: Date = agreedDate(), signal?: AbortSignal): Promise<number> {
  // The system's own errand: it goes over all accounts.
  const left = await EndpointErrand.find({ since: { $lte: new Date(now.getTime() - LEFT_MS) } })
    .setOptions(acrossAccounts)
    .limit(LOOKED_AT)
    .lean<ErrandRecord[]>();
  let released = 0;
  for (const { _id, account_id } of left) {
    if (signal?.aborted) break;
    released += await settleEndpoint(String(account_id), String(_id), now);
  }
  return released;
}

async function stateOf(own: Own): Promise<'enabled' | 'disabled' | 'gone'> {
  const endpoint = await readAfterElection(() => WebhookEndpoint.findOne(own, { enabled: 1 }).lean());
  if (!endpoint) return 'gone';
  return endpoint.enabled ? 'enabled' : 'disabled';
}
