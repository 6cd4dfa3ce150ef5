// Restores a backup into an empty database. "admin migrate" makes the indexes afterwards.
import { BSON, type Db, type MongoClient } from 'mongodb';
import { type Archive, BackupError, documentsIn, readArchive, verify } from './archive.ts';

/**
 * The limits of one batch: documents or bytes, whichever is reached first. Files of batches have megabytes per
 * document.
 */
const BATCH = 500;
const BATCH_BYTES = 8 * 1024 * 1024;

/**
 * Restores a backup.
 * @throws BackupError when it is damaged or the database is not empty. Nothing is written in that case.
 */
export async function restore(client: MongoClient, folder: string): Promise<Archive> {
  const archive = await readArchive(folder);
  await verify(folder, archive);
  const database = client.db();
  await refuseUnlessEmpty(database);
  for (const name of Object.keys(archive.collections)) {
    const collection = database.collection(name);
    let batch: BSON.Document[] = [];
    let bytes = 0;
    for await (const bson of documentsIn(folder, name)) {
      // These options preserve number types.
      batch.push(BSON.deserialize(bson, { promoteValues: false, promoteBuffers: false }));
      bytes += bson.length;
      if (batch.length < BATCH && bytes < BATCH_BYTES) continue;
      await collection.insertMany(batch);
      batch = [];
      bytes = 0;
    }
    if (batch.length > 0) await collection.insertMany(batch);
    const count = await collection.countDocuments();
    if (count !== archive.collections[name]?.count) {
      throw new BackupError(
        `${name} holds ${count} documents, not ${archive.collections[name]?.count}: drop the database and restore again`,
      );
    }
  }
  return archive;
}

async function refuseUnlessEmpty(database: Db) {
  for (const { name } of await database.listCollections({ type: 'collection' }, { nameOnly: true }).toArray()) {
    if (await database.collection(name).findOne({}, { projection: { _id: 1 } })) {
      throw new BackupError(`${database.databaseName}.${name} is not empty: restore into a new database`);
    }
  }
}
