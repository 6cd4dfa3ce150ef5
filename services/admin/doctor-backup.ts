// Reports a backup that is too old, or that no backup was recorded.
import { BACKUP_OLD_MS, readBackupState } from '#libs/models/operations/backup-record.ts';
import { type Finding, finding } from './check-result.ts';

const HOUR_MS = 3_600_000;
const ADVICE =
  'Run "npm run -s backup -- save FOLDER" every night; after a backup by another program, such as a snapshot, run "npm run -s backup -- record"';

export async function examineBackup(): Promise<Finding[]> {
  const { savedAt, ageMs } = await readBackupState();
  const hours = Math.floor(ageMs / HOUR_MS);
  const found = savedAt
    ? `the last is ${hours} h old`
    : ageMs > 0
      ? `none was recorded, and the first account is ${hours} h old`
      : 'nothing to back up yet';
  return [finding('Backup', found, ageMs < BACKUP_OLD_MS, ADVICE, 'warning')];
}
