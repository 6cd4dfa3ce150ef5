// Errors ordered from the server itself, for the connection of this process alone.
import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import { isDuplicate } from '#libs/mongo/errors.ts';
import { eventually } from './eventually.ts';

/** An error code: the server that was asked is none any more, or not yet. */
export const NOT_PRIMARY = 13_435;

/** Longer than any order is needed, also on a busy machine. A test that was killed with its order delays the others by as much. */
const LEASE_MS = 90_000;
const ACQUIRE_LIMIT_MS = 150_000;

/**
 * A server takes one order at a time, and several test files share one: each acquires a lease first.
 * @param data as MongoDB's fail point `failCommand` wants it: `failCommands` and `errorCode`, `closeConnection`, `namespace`, …
 * @param work what is done while the next commands (`times`, 1 unless given) fail so; then the order is taken back.
 */
export async function withErrors<Result>(
  { times = 1, ...data }: { times?: number; failCommands: string[]; [setting: string]: unknown },
  work: () => Promise<Result>,
): Promise<Result> {
  const client = mongoose.connection.getClient();
  const leases = client.db('test_leases').collection<{ _id: string; owner: string; until: Date }>('leases');
  const owner = randomUUID();
  let until = 0;
  const order = (given: object) => client.db('admin').command({ configureFailPoint: 'failCommand', ...given });
  await eventually(acquire, ACQUIRE_LIMIT_MS);
  try {
    await order({ mode: { times }, data: { ...data, appName: client.options.appName } });
    return await work();
  } finally {
    // After the lease the order may be another test's.
    if (Date.now() < until) await order({ mode: 'off' });
    await leases.deleteOne({ _id: 'failCommand', owner });
  }

  async function acquire() {
    const now = Date.now();
    try {
      const isFree = { _id: 'failCommand', until: { $lt: new Date(now) } };
      await leases.updateOne(isFree, { $set: { owner, until: new Date(now + LEASE_MS) } }, { upsert: true });
      until = now + LEASE_MS;
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }
}
