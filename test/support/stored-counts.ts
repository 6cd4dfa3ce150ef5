// How many records of each kind the worker's database has, in two calls: counting each collection by itself takes longer than most tests.
import mongoose from 'mongoose';

const COUNT = [{ $collStats: { count: {} } }, { $project: { ns: 1, count: 1 } }];

/** @returns counts by `database.collection`. */
export async function storedCounts(): Promise<Record<string, number>> {
  const { db } = mongoose.connection;
  const [first, ...others] = (await db?.listCollections({}, { nameOnly: true }).toArray()) ?? [];
  if (!db || !first) return {};
  const more = others.map(({ name }) => ({ $unionWith: { coll: name, pipeline: COUNT } }));
  const counts = await db
    .collection(first.name)
    .aggregate([...COUNT, ...more])
    .toArray();
  return Object.fromEntries(counts.map(({ ns, count }) => [ns as string, count as number]));
}
