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
  if (await isAsNew()) return;
  await database().dropDatabase();
  await ensureIndexes();
}

/** Leaves the database of mongoose's connection to the next file. */
export async function closeDatabase(): Promise<void> {
  if (!process.env['TEST_RUN']) return void (await database().dropDatabase());
  const emptied = await Promise.all(allModels.map(({ collection }) => empty(collection)));
  if (emptied.includes('dropped')) await ensureIndexes();
}

async function empty(collection: mongoose.Collection): Promise<'dropped' | undefined> {
  const documents = await collection.estimatedDocumentCount();
  if (documents === 0) return;
  if (documents > DELETED_AT_MOST) {
    await collection.drop();
    return 'dropped';
  }
  await collection.deleteMany({});
  // Otherwise the plan that suited this file's documents would serve the next file, too.
  await database().command({ planCacheClear: collection.collectionName });
}

/** @returns false for a new database, and after a file that ended without closing or that left a collection or an index. */
async function isAsNew(): Promise<boolean> {
  const { objects, collections, indexes } = await database().command({ dbStats: 1 });
  return objects === 0 && collections === allModels.length && indexes === INDEXES;
}

/** All indexes of all collections. Each collection has one on `_id`. */
const INDEXES = allModels.reduce((sum, model) => sum + 1 + model.schema.indexes().length, 0);

function database() {
  const { db } = mongoose.connection;
  if (!db) throw new Error('mongoose is not connected');
  return db;
}
