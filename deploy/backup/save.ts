// Writes every collection as it was at one instant, while the system goes on working.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { ClientSession, Db, MongoClient } from 'mongodb';
import { type Archive, BackupError, fileOf, LIST } from './archive.ts';

/** @throws BackupError when the folder exists already. After any failure it is gone: the next try may take the same name. */
export async function save(client: MongoClient, folder: string): Promise<Archive> {
  await mkdir(dirname(folder), { recursive: true });
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(`${folder} cannot be made (${error.code}): a backup never overwrites anything`);
  });
  try {
    return await saveInto(client, folder);
  } catch (error) {
    // Why it could not be removed matters less than why there is nothing to keep.
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
  // All reads of this session see the database as it was at the first of them. MongoDB keeps that for five minutes
  // (minSnapshotHistoryWindowInSeconds) and fails afterwards, rather than mixing two states.
  const session = client.startSession({ snapshot: true });
  try {
    const collections: Archive['collections'] = {};
    for (const name of names) collections[name] = await saveCollection(database, session, name, folder);
    const archive: Archive = { format: 1, savedAt, collections };
    // Last and at once: a folder without its list is no backup.
    await writeFile(join(folder, `${LIST}.part`), `${JSON.stringify(archive, undefined, 2)}\n`);
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
    // As the server sends them: nothing is decoded, so nothing can be rounded.
    for await (const document of database.collection(name).find({}, { session, raw: true })) {
      const bson = document as unknown as Buffer; // What `raw` means.
      hash.update(bson);
      count += 1;
      yield bson;
    }
  }
  await pipeline(Readable.from(bytes()), createGzip(), createWriteStream(fileOf(folder, name), { mode: 0o600 }));
  return { count, sha256: hash.digest('hex') };
}
