// How the database found what was asked for.
import mongoose from 'mongoose';

/** A read of a collection. */
export interface Command {
  collection: string;
  filter: unknown;
  sort?: Record<string, unknown>;
}

/** The reads that something asks of the database, in an order of their own. */
export async function asked(ask: () => Promise<unknown>): Promise<Command[]> {
  const commands = (await profiled(ask)).flatMap(({ command }): Command[] => {
    const { find, count, aggregate, distinct, filter, query, pipeline, sort } = command;
    const collection = find ?? count ?? aggregate ?? distinct;
    if (typeof collection !== 'string') return [];
    return [{ collection, filter: filter ?? query ?? pipeline, ...(sort ? { sort } : {}) }];
  });
  const texts = new Map(commands.map((command) => [JSON.stringify(command), command]));
  return [...texts].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, command]) => command);
}

/** Returns the plans of the queries that `ask` makes on a collection. */
export async function plansOf(collection: string, ask: () => Promise<unknown>) {
  return (await profiled(ask, collection))
    .filter(({ command }) => command['find'] || command['count'] || command['aggregate'])
    .map(({ command, hasSortStage = false, planSummary, docsExamined, keysExamined }) => ({
      command: Object.keys(command)[0],
      hasSortStage,
      isByIndex: /^(IXSCAN|COUNT_SCAN)/.test(String(planSummary)),
      docsExamined,
      keysExamined,
      maxTimeMS: command['maxTimeMS'],
    }));
}

/** Returns the profiler's entries for the commands of `ask`. @param collection only of this one. */
async function profiled(ask: () => Promise<unknown>, collection?: string) {
  const { db } = mongoose.connection;
  if (!db) throw new Error('not connected');
  await db.command({ profile: 2 });
  await ask();
  await db.command({ profile: 0 });
  const entries = await db
    .collection('system.profile')
    .find(collection ? { ns: `${db.databaseName}.${collection}` } : {})
    .toArray();
  await db.collection('system.profile').drop();
  return entries;
}
