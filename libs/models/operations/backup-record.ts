// The last backup of this database, so that an operator sees when one is missing. The backup command writes it after its files.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate } from '../../clock.ts';
import { Account, type AccountRecord } from '../accounts/account.ts';

const DAY_MS = 24 * 3_600_000;
/** The age from which on a backup is too old: two nights were missed. The alert rule BackupOld has the same. */
export const BACKUP_OLD_MS = 2 * DAY_MS;
/** The age from which on that is serious. */
export const BACKUP_SERIOUS_MS = 7 * DAY_MS;

/** The id of the only record. */
export const LAST_BACKUP = 'last';
export const BACKUPS = 'backup_records';

const backupSchema = new Schema(
  {
    _id: { type: String, required: true },
    /** The instant of the records in the backup. */
    saved_at: { type: Date, required: true },
    /** The number of documents. Absent for a backup that another program made. */
    documents: Number,
  },
  { versionKey: false, strict: 'throw', collection: BACKUPS },
);

type StoredBackup = InferSchemaType<typeof backupSchema>;

export const BackupRecord = model('BackupRecord', backupSchema);

export interface BackupState {
  savedAt: Date | undefined;
  documents: number | undefined;
  /** The time since the last backup, or since the first account when there is no backup. 0 without an account. */
  ageMs: number;
}

export async function readBackupState(now: Date = agreedDate()): Promise<BackupState> {
  const [last, first] = await Promise.all([
    BackupRecord.findById(LAST_BACKUP).lean<StoredBackup>(),
    Account.findOne().sort({ _id: 1 }).select({ created_at: 1 }).lean<Pick<AccountRecord, 'created_at'>>(),
  ]);
  const since = last?.saved_at ?? first?.created_at;
  const ageMs = since ? Math.max(0, now.getTime() - since.getTime()) : 0;
  return { savedAt: last?.saved_at, documents: last?.documents ?? undefined, ageMs };
}
