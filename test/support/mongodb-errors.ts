// Errors ordered from the server itself, for the connection of this process alone.
import mongoose from 'mongoose';
import { isDuplicate } from '#libs/mongo/errors.ts';
import { eventually } from './eventually.ts';

/** An error code: the server that was asked is none any more, or not yet. */
export const NOT_PRIMARY = 13_435;

/** Of one test; who died with its order holds the others up no longer. */
const TURN_MS = 30_000;

/**
 * A server takes one order at a time, and several test files share one: who orders waits for its turn.
 * @param data as MongoDB's fail point `failCommand` wants it: `failCommands` and `errorCode`, `closeConnection`, `namespace`, …
 * @param work what is done while the next commands (`times`, 1 unless told) fail so; then the order is taken back.
 */
export async function withErrors<Result>(
  { times = 1, ...data }: { times?: number; failCommands: string[]; [setting: string]: unknown },
  work: () => Promise<Result>,
): Promise<Result> {
  const client = mongoose.connection.getClient();
  const turns = client.db('test_turns').collection<{ _id: string; until: Date }>('turns');
  const order = (given: object) => client.db('admin').command({ configureFailPoint: 'failCommand', ...given });
  await eventually(takeTurn);
  try {
    await order({ mode: { times }, data: { ...data, appName: client.options.appName } });
    return await work();
  } finally {
    await order({ mode: 'off' });
    await turns.deleteOne({ _id: 'failCommand' });
  }

  async function takeTurn() {
    const now = Date.now();
    try {
      const isFree = { _id: 'failCommand', until: { $lt: new Date(now) } };
      await turns.updateOne(isFree, { $set: { until: new Date(now + TURN_MS) } }, { upsert: true });
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }
}
