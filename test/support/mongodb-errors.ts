// Errors ordered from the server itself, for the connection of this process alone.
import mongoose from 'mongoose';
import { isDuplicate } from '#libs/mongo.ts';
import { eventually } from './eventually.ts';

/** Of one test; who ends without taking its order back holds the others up no longer. */
const TURN_MS = 30_000;
let hasTurn = false;

/**
 * A server takes one order at a time, and several test files share one: who orders waits for its turn, and `off` ends it.
 * @param mode for how many commands; `off` takes the order back.
 * @param data as MongoDB's fail point `failCommand` wants it: `failCommands` and `errorCode`, `closeConnection`, `namespace`, …
 */
export async function orderErrors(mode: 'off' | { times: number }, data: object = {}): Promise<void> {
  const client = mongoose.connection.getClient();
  const turns = client.db('test_turns').collection<{ _id: string; until: Date }>('turns');
  const order = (given: object) => client.db('admin').command({ configureFailPoint: 'failCommand', ...given });
  if (mode !== 'off') {
    if (!hasTurn) await eventually(takeTurn);
    hasTurn = true;
    await order({ mode, data: { ...data, appName: client.options.appName } });
  } else if (hasTurn) {
    await order({ mode });
    await turns.deleteOne({ _id: 'failCommand' });
    hasTurn = false;
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
