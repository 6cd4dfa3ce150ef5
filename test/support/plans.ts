// How the database found what was asked for.
import mongoose from 'mongoose';

/** What the database did with a collection while something was asked. */
export async function plansOf(collection: string, ask: () => Promise<unknown>) {
  const { db } = mongoose.connection;
  if (!db) throw new Error('not connected');
  await db.command({ profile: 2 });
  await ask();
  await db.command({ profile: 0 });
  const entries = await db
    .collection('system.profile')
    .find({ ns: `${db.databaseName}.${collection}` })
    .toArray();
  await db.collection('system.profile').drop();
  return entries
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
