// Reads records that one transaction changes and announces, within a bound on their bytes. Each may be as large as a
// body allows.
import { appError } from '../errors.ts';
import type { Owned } from './records.ts';
import { sizeOf } from './stored-bytes.ts';

/**
 * The most bytes of records that one transaction changes, where a request names them by the hundred or not one by one.
 */
const CHANGED_MAX_MIB = 16;
export const CHANGED_MAX_BYTES = CHANGED_MAX_MIB * 2 ** 20;

/**
 * Reads all records of the cursor.
 * @param noun of the records, for the message.
 * @throws AppError 409 when they are larger together than CHANGED_MAX_BYTES.
 */
export async function readWithin<Stored extends Owned>(cursor: AsyncIterable<Owned>, noun: string): Promise<Stored[]> {
  const records: Stored[] = [];
  let bytes = 0;
  // Leaving the loop closes the cursor.
  for await (const record of cursor) {
    bytes += sizeOf(record);
    if (bytes > CHANGED_MAX_BYTES) throw tooLarge(noun);
    records.push(record as Stored);
  }
  return records;
}

function tooLarge(noun: string): Error {
  return appError('texts_too_large', { records: noun, limit_mib: CHANGED_MAX_MIB });
}
