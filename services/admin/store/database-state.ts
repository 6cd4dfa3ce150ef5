// What MongoDB says of itself, as far as the system depends on it.
import mongoose from 'mongoose';
import { allModels } from '#libs/models/indexes.ts';

export interface DatabaseState {
  version: string;
  /** Absent on a standalone server, where transactions are not possible. */
  replicaSet: string | undefined;
  members: number;
  /** `host:port state` of each member that can neither vote nor take over now; undefined when this user may not ask. */
  membersAway: string[] | undefined;
  /** How far its clock is ahead of ours (behind, when negative), half of the round trip taken off. */
  clockAheadMs: number;
  roundTripMs: number;
}

/** `$dateTrunc`, which the charts of the dashboard are made with, came with 5.0. */
export const MONGODB_LEAST_VERSION = '5.0';

/** @throws when MongoDB does not answer. */
export async function readDatabaseState(): Promise<DatabaseState> {
  const { db } = mongoose.connection;
  if (!db) throw new Error('not connected');
  const startedAt = Date.now();
  const hello = await db.admin().command({ hello: 1 });
  const roundTripMs = Date.now() - startedAt;
  const { version } = await db.admin().command({ buildInfo: 1 });
  return {
    version: String(version),
    replicaSet: typeof hello['setName'] === 'string' ? hello['setName'] : undefined,
    members: Array.isArray(hello['hosts']) ? hello['hosts'].length : 1,
    membersAway: await readMembersAway(db.admin()),
    clockAheadMs: Math.round((hello['localTime'] as Date).getTime() - startedAt - roundTripMs / 2),
    roundTripMs,
  };
}

const WELL = new Set(['PRIMARY', 'SECONDARY', 'ARBITER']);

async function readMembersAway(admin: mongoose.mongo.Admin): Promise<string[] | undefined> {
  try {
    const { members } = (await admin.command({ replSetGetStatus: 1 })) as {
      members: { name: string; stateStr: string }[];
    };
    return members.filter(({ stateStr }) => !WELL.has(stateStr)).map(({ name, stateStr }) => `${name} ${stateStr}`);
  } catch {
    // It takes the role clusterMonitor, which the services do not need; and a single server has no members.
    return undefined;
  }
}

/** @returns `collection (field, field)` for each index a model declares and the database lacks. */
export async function findMissingIndexes(): Promise<string[]> {
  const missing: string[] = [];
  for (const model of allModels) {
    const wanted = model.schema.indexes().map(([key]) => Object.keys(key).join(', '));
    const present = new Set((await indexesOf(model.collection.name)).map((key) => Object.keys(key).join(', ')));
    missing.push(...wanted.filter((key) => !present.has(key)).map((key) => `${model.collection.name} (${key})`));
  }
  return missing;
}

async function indexesOf(collection: string): Promise<object[]> {
  try {
    const indexes = await mongoose.connection.collection(collection).indexes();
    return indexes.map(({ key }) => key);
  } catch (error) {
    // A collection that does not exist has none.
    if ((error as { codeName?: string }).codeName === 'NamespaceNotFound') return [];
    throw error;
  }
}
