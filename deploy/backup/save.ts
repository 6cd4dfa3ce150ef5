// Saves a consistent snapshot of every collection while the system runs.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { ClientSession, Db, MongoClient } from 'mongodb';
import { type Archive, BackupError, fileOf, LIST } from './archive.ts';

/**
 * Saves a backup.
 * @throws BackupError when the folder exists. Any failure removes the folder, so that a retry can use the same name.
 */
export async function save(client: MongoClient, folder: string): Promise<Archive> {
  await mkdir(dirname(folder), { recursive: true });
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(`${folder} cannot be made (${error.code}): a backup never overwrites anything`);
  });
  try {
    return await saveInto(client, folder);
  } catch (error) {
    // The original error matters more than a failed removal.
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
}

async function saveInto(client: MongoClient, folder: string): Promise<Archive> {
  const database = client.db();
  const savedAt = new Date().toISOString();
  const names = (await database.listCollections({ type: 'collection' }, { nameOnly: true }).toArray())
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('system.'));
  // All reads of this session use the snapshot of the first one. MongoDB keeps it for five minutes
  // (minSnapshotHistoryWindowInSeconds). After that it fails instead of mixing two states.
  const session = client.startSession({ snapshot: true });
  try {
    const collections: Archive['collections'] = {};
    for (const name of names) collections[name] = await saveCollection(database, session, name, folder);
    const archive: Archive = { format: 1, savedAt, collections };
    // The list is written last and atomically, because a folder without it is not a backup.
    await writeFile(join(folder, `${LIST}.part`), `${JSON.stringify(archive, undefined, 2)}\n`, { flush: true });
    await rename(join(folder, `${LIST}.part`), join(folder, LIST));
    return archive;
  } finally {
    await session.endSession();
  }
}

async function saveCollection(database: Db, session: ClientSession, name: string, folder: string) {
  const hash = createHash('sha256');
  let count = 0;
  async function* bytes() {
    // The bytes stay raw: nothing is decoded, so nothing can be rounded.
    for await (const document of database.collection(name).find({}, { session, raw: true })) {
      const bson = document as unknown as Buffer; // `raw: true` returns this type.
      hash.update(bson);
      count += 1;
      yield bson;
    }
  }
  await pipeline(
    Readable.from(bytes()),
    createGzip(),
    createWriteStream(fileOf(folder, name), { mode: 0o600, flush: true }),
  );
  return { count, sha256: hash.digest('hex') };
}
