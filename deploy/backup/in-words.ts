// Translates MongoDB's errors during backup and restore for the operator.
import { MongoNetworkError, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { BackupError } from './archive.ts';

const SNAPSHOT_TOO_OLD = 239;

/** Returns a BackupError where the operator can act, and any other error unchanged. */
export function inWords(error: unknown): unknown {
  const words = wordsFor(error);
  return words === undefined ? error : new BackupError(words, { cause: error });
}

function wordsFor(error: unknown): string | undefined {
  if (error instanceof MongoServerSelectionError || error instanceof MongoNetworkError) {
    return `MongoDB cannot be reached, or has no primary at the moment (${error.message}): look at it and try again`;
  }
  if (!(error instanceof MongoServerError)) return undefined;
  if (error.code !== SNAPSHOT_TOO_OLD) return `MongoDB refuses to go on (${error.message})`;
  return (
    'The database took longer to save than MongoDB keeps one instant of it: raise minSnapshotHistoryWindowInSeconds ' +
    '(300 unless set) on every member, or take a snapshot of the volume'
  );
}
