// Reads the worker's database in two commands. One for each collection takes longer than most tests.
import mongoose, { type mongo } from 'mongoose';

const COUNT = [{ $collStats: { count: {} } }, { $project: { ns: 1, count: 1 } }];

/** @returns the number of records of each kind, by `database.collection`. */
export async function storedCounts(): Promise<Record<string, number>> {
  const counts = await ofAllCollections(COUNT);
  return Object.fromEntries(counts.map(({ ns, count }) => [ns as string, count as number]));
}

/** @param without fields that do not count, such as when a key was last used. @returns all records as text, to compare with a later call. */
export async function storedRecords(without: readonly string[] = []): Promise<string> {
  const hidden = Object.fromEntries(without.map((name) => [name, 0]));
  const records = await ofAllCollections([
    { $sort: { _id: 1 } },
    ...(without.length > 0 ? [{ $project: hidden }] : []),
  ]);
  return records.map((record) => JSON.stringify(record)).join('\n');
}

async function ofAllCollections(pipeline: mongo.Document[]): Promise<mongo.Document[]> {
  const { db } = mongoose.connection;
  const names = ((await db?.listCollections({}, { nameOnly: true }).toArray()) ?? [])
    .map(({ name }) => name)
    .toSorted();
  const [first, ...others] = names;
  if (!db || first === undefined) return [];
  const stages = [...pipeline, ...others.map((coll) => ({ $unionWith: { coll, pipeline } }))];
  return db.collection(first).aggregate(stages).toArray();
}
