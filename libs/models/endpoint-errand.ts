// What is still to be done with the deliveries of an endpoint that was enabled, disabled or deleted. Written in the transaction of
// that change, or before what may come too late for it, and done after it: there may be a million of them, and whoever is to do it may die.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate } from '../clock.ts';
import type { Session } from '../mongo.ts';
import { readAcknowledged } from '../mongo-primary.ts';
import { abandonDeliveries, holdDeliveries, releaseDeliveries } from './delivery.ts';
import { acrossAccounts, type Id, idField, newId, requiredIdField, type StoredId, storedId, tenant } from './tenant.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';

const errandSchema = new Schema(
  {
    /** The endpoint's. */
    _id: idField,
    account_id: requiredIdField,
    /** Another one for each change: what was done for an earlier one is not all. */
    change_id: requiredIdField,
    since: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'endpoint_errands' },
);
errandSchema.plugin(tenant);
errandSchema.index({ since: 1 });

type ErrandRecord = InferSchemaType<typeof errandSchema>;

export const EndpointErrand = model('EndpointErrand', errandSchema);

/** After these milliseconds whoever made the change is taken to be gone, and somebody else does what it left. */
const LEFT_MS = 30_000;
const LOOKED_AT = 100;

/**
 * @param endpoint one that was enabled, disabled or deleted in this transaction: `settleEndpoint` is to follow the commit.
 * @param session may be left out by who is about to hold a delivery: its endpoint may be enabled meanwhile, and what was held before be released.
 */
export async function noteErrand(
  { _id, account_id }: { _id: StoredId; account_id: StoredId },
  session?: Session,
): Promise<void> {
  // By the key alone, which no two accounts share: only so the server itself tries again when two make it at once.
  await EndpointErrand.updateOne(
    { _id },
    { $set: { account_id, change_id: storedId(newId()), since: agreedDate() } },
    { ...(session ? { session } : {}), upsert: true, ...acrossAccounts },
  );
}

/**
 * Makes the deliveries what the endpoint is now: released when it is enabled, held when it is disabled, given up when it is gone.
 * Any number of processes may do it at once: who ends last has seen the last change. @returns how many go out again.
 */
export async function settleEndpoint(accountId: Id, endpointId: Id): Promise<number> {
  const own = { _id: endpointId, account_id: accountId };
  let released = 0;
  for (;;) {
    const errand = await EndpointErrand.findOne(own).lean<ErrandRecord>();
    const before = await stateOf(own);
    if (before === 'enabled') released += await releaseDeliveries(accountId, endpointId);
    else if (before === 'disabled') await holdDeliveries(accountId, endpointId);
    else await abandonDeliveries(accountId, endpointId);
    if (errand) await EndpointErrand.deleteOne({ ...own, change_id: errand.change_id });
    if ((await stateOf(own)) === before) return released;
  }
}

/**
 * Does what was left by processes that died.
 * @param signal leaves the rest to the next look, here or in another process.
 * @returns how many deliveries go out again.
 */
export async function settleLeft(now: Date = agreedDate(), signal?: AbortSignal): Promise<number> {
  // The system's own errand: it goes over all accounts.
  const left = await EndpointErrand.find({ since: { $lte: new Date(now.getTime() - LEFT_MS) } })
    .setOptions(acrossAccounts)
    .limit(LOOKED_AT)
    .lean<ErrandRecord[]>();
  let released = 0;
  for (const { _id, account_id } of left) {
    if (signal?.aborted) break;
    released += await settleEndpoint(String(account_id), String(_id));
  }
  return released;
}

async function stateOf(own: { _id: Id; account_id: Id }): Promise<'enabled' | 'disabled' | 'gone'> {
  const endpoint = await readAcknowledged(() => WebhookEndpoint.findOne(own, { enabled: 1 }).lean());
  if (!endpoint) return 'gone';
  return endpoint.enabled ? 'enabled' : 'disabled';
}
