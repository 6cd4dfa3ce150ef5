// Reads the state of MongoDB that the system depends on.
import mongoose from 'mongoose';
import { allModels } from '#libs/models/indexes.ts';

export interface DatabaseState {
  version: string;
  /** Absent on a standalone server, which has no transactions. */
  replicaSet: string | undefined;
  members: number;
  /** The versions of the other members by `host:port`, or why a member does not tell it. */
  otherVersions: ReadonlyMap<string, string>;
  /** True behind a router, which shows no members. */
  isSharded: boolean;
  /** `host:port state` of each unhealthy member. Undefined when the user lacks permission. */
  unhealthyMembers: string[] | undefined;
  /** The offset of its clock from this one, corrected by half of the round trip. Positive when it is ahead. */
  clockAheadMs: number;
  roundTripMs: number;
}

/** Balances need `$topN` of 5.2, and 6.0 is the oldest version that was tested. */
export const MONGODB_LEAST_VERSION = '6.0';

/** Reads the state. @throws when MongoDB does not respond. */
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
    otherVersions: await readOtherVersions(hello),
    isSharded: hello['msg'] === 'isdbgrid',
    unhealthyMembers: await readUnhealthyMembers(db.admin()),
    clockAheadMs: Math.round((hello['localTime'] as Date).getTime() - startedAt - roundTripMs / 2),
    roundTripMs,
  };
}

const MEMBER_LIMIT_MS = 2_000;

async function readOtherVersions(hello: mongoose.mongo.Document): Promise<Map<string, string>> {
  const hosts = [hello['hosts'], hello['passives']].flatMap((names) => (Array.isArray(names) ? names.map(String) : []));
  const others = hosts.filter((host) => host !== hello['me']);
  return new Map(await Promise.all(others.map(async (host) => [host, await versionOf(host)] as const)));
}

async function versionOf(host: string): Promise<string> {
  const { credentials, tls, tlsCAFile, tlsCertificateKeyFile, tlsAllowInvalidCertificates } =
    mongoose.connection.getClient().options;
  const client = new mongoose.mongo.MongoClient(`mongodb://${host}/`, {
    directConnection: true,
    serverSelectionTimeoutMS: MEMBER_LIMIT_MS,
    connectTimeoutMS: MEMBER_LIMIT_MS,
    tls,
    ...(tlsCAFile ? { tlsCAFile } : {}),
    ...(tlsCertificateKeyFile ? { tlsCertificateKeyFile } : {}),
    ...(tlsAllowInvalidCertificates ? { tlsAllowInvalidCertificates } : {}),
    ...(credentials
      ? { auth: { username: credentials.username, password: credentials.password }, authSource: credentials.source }
      : {}),
  });
  try {
    const { version } = await client.db('admin').command({ buildInfo: 1 }, { timeoutMS: MEMBER_LIMIT_MS });
    return String(version);
  } catch {
    return 'unknown: it does not answer';
  } finally {
    await client.close();
  }
}

const WELL = new Set(['PRIMARY', 'SECONDARY', 'ARBITER']);

async function readUnhealthyMembers(admin: mongoose.mongo.Admin): Promise<string[] | undefined> {
  try {
    const { members } = (await admin.command({ replSetGetStatus: 1 })) as {
      members: { name: string; stateStr: string }[];
    };
    return members.filter(({ stateStr }) => !WELL.has(stateStr)).map(({ name, stateStr }) => `${name} ${stateStr}`);
  } catch {
    // This needs the role clusterMonitor, which services do not have, and a replica set.
    return undefined;
  }
}

/**
 * Returns `collection (field, field)` for each index that a model declares and the database lacks, or has in another
 * form.
 */
export async function findMissingIndexes(): Promise<string[]> {
  const missing: string[] = [];
  for (const model of allModels) {
    const wanted = model.schema.indexes().map(([key, options]) => indexOf(key, options));
    const present = await indexesOf(model.collection.name);
    const lacks = wanted.filter(({ form }) => !present.some((index) => index.form === form));
    const others = present.filter(({ form }) => !wanted.some((index) => index.form === form));
    for (const { fields } of lacks) {
      const isOther = others.some((index) => index.fields === fields);
      missing.push(`${model.collection.name} (${fields})${isOther ? ': drop the one of another form first' : ''}`);
    }
  }
  return missing;
}

interface Index {
  fields: string;
  /** A text that is equal for two indexes that accept, find and keep the same. */
  form: string;
}

function indexOf(key: object, options: mongoose.mongo.IndexDescriptionInfo | mongoose.IndexOptions): Index {
  const { unique = false, sparse = false, expireAfterSeconds, partialFilterExpression } = options;
  return {
    fields: Object.keys(key).join(', '),
    form: JSON.stringify([Object.entries(key), unique, sparse, expireAfterSeconds, partialFilterExpression]),
  };
}

async function indexesOf(collection: string): Promise<Index[]> {
  try {
    const indexes = await mongoose.connection.collection(collection).indexes();
    return indexes.map((index) => indexOf(index.key, index));
  } catch (error) {
    // An absent collection has no indexes.
    if ((error as { codeName?: string }).codeName === 'NamespaceNotFound') return [];
    throw error;
  }
}
