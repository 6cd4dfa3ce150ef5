// Records a backup in the database, for the dashboard, `admin doctor` and the alert of old backups.
import type { MongoClient } from 'mongodb';
import { BACKUPS, LAST_BACKUP } from '#libs/models/operations/backup-record.ts';

/** Records a backup. An older one than the last does not replace it. @param documents unknown when another program made it. */
export async function recordBackup(client: MongoClient, savedAt: Date, documents?: number): Promise<void> {
  const collection = client.db().collection<{ _id: string }>(BACKUPS);
  await collection.updateOne(
    { _id: LAST_BACKUP },
    [
      {
        $replaceWith: {
          $cond: [
            { $gt: ['$saved_at', savedAt] },
            '$$ROOT',
            { _id: LAST_BACKUP, saved_at: savedAt, ...(documents === undefined ? {} : { documents }) },
          ],
        },
      },
    ],
    { upsert: true },
  );
}
