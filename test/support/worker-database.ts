// The database that the files of one worker use one after the other: making its collections and indexes takes longer than most files run.
import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import { allModels, ensureIndexes } from '#libs/models/indexes.ts';

/** Dropping a collection with more documents than this is faster than deleting them. */
const DELETED_AT_MOST = 1_000;

/** @returns the name of this worker's database; outside of the test runner, a new one each time. */
export function workerDatabase(): string {
  const { TEST_RUN: run, JEST_WORKER_ID: worker } = process.env;
  return run && worker ? `test_${run}_${worker}` : `test_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
}

/** Gives the database of mongoose's connection all collections and indexes, and nothing else. */
export async function openDatabase(): Promise<void> {
  if (!(await isAsNew())) await mongoose.connection.dropDatabase();
  await ensureIndexes();
}

/** Leaves the database of mongoose's connection to the next file. */
export async function closeDatabase(): Promise<void> {
  if (!process.env['TEST_RUN']) await mongoose.connection.dropDatabase();
  else await Promise.all(allModels.map(({ collection }) => empty(collection)));
}

async function empty(collection: mongoose.Collection): Promise<void> {
  if ((await collection.estimatedDocumentCount()) > DELETED_AT_MOST) {
    await collection.drop();
    return;
  }
  await collection.deleteMany({});
  // Otherwise the plan that suited this file's documents would serve the next file, too.
  await mongoose.connection.db?.command({ planCacheClear: collection.collectionName });
}

/** @returns false after a file that ended without closing, or that left a collection of its own. */
async function isAsNew(): Promise<boolean> {
  const models = new Map(allModels.map((model) => [model.collection.collectionName, model]));
  const found = (await mongoose.connection.db?.listCollections({}, { nameOnly: true }).toArray()) ?? [];
  const answers = found.map(async ({ name }) => {
    const model = models.get(name);
    return model && !(await model.collection.findOne({}, { projection: { _id: 1 } }));
  });
  return (await Promise.all(answers)).every(Boolean);
}
