// What an account has stored, to go back to: quicker than making the same records again over HTTP.
import mongoose, { type mongo } from 'mongoose';
import { storedId } from '#libs/models/tenant.ts';

type Collection = mongo.Collection<mongo.Document>;

/** @returns a function that restores the records of the account as they are now, in every collection. */
export async function snapshotAccount(accountId: string): Promise<() => Promise<void>> {
  const own = { account_id: storedId(accountId) };
  const collections = (): Promise<Collection[]> => mongoose.connection.db?.collections() ?? Promise.resolve([]);
  const kept = new Map<string, mongo.Document[]>();
  for (const collection of await collections()) {
    kept.set(collection.collectionName, await collection.find(own).toArray());
  }
  return async () => {
    await Promise.all(
      (await collections()).map(async (collection) => {
        const records = kept.get(collection.collectionName) ?? [];
        await collection.deleteMany(own);
        if (records.length > 0) await collection.insertMany(records);
      }),
    );
  };
}
