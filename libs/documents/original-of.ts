// The original of an issued document: kept since it was first made, or made and kept now.
import { AppError } from '../errors.ts';
import {
  findOriginal,
  type KeptFile,
  keepOriginal,
  type MadeFile,
  type Version,
} from '../models/documents/original.ts';
import type { Id } from '../models/tenant.ts';

interface Making {
  accountId: Id;
  /** Prints or writes the document. It returns undefined when the client of the document is gone. */
  make: () => Promise<MadeFile | undefined>;
  /** Bytes of records, events and originals that the account may keep; any amount unless given. */
  quotaBytes?: number | undefined;
}

/**
 * Returns the original, or undefined when `make` does. Where it cannot be kept, a warning says why, and the file has no
 * SHA-256: the next request makes another one.
 */
export async function originalOf(
  version: Version,
  { accountId, make, quotaBytes }: Making,
): Promise<(MadeFile & Partial<KeptFile>) | undefined> {
  const kept = await findOriginal(accountId, version);
  if (kept) return kept;
  const made = await make();
  // A print that lacks the logo is not kept, because the account does not want it as its original.
  if (!made || isWithoutLogo(made.warnings)) return made;
  const unkept = (reason: string) => ({ ...made, warnings: [...made.warnings, `The original is not kept${reason}`] });
  try {
    const original = await keepOriginal(accountId, version, made, quotaBytes);
    return original ?? unkept(': it is too large, or its document has too many versions or is no longer issued');
  } catch (error) {
    // An account over its quota still gets its documents.
    if (!(error instanceof AppError) || error.status !== 409) throw error;
    return unkept(`. ${error.message}`);
  }
}

export function isWithoutLogo(warnings: readonly string[]): boolean {
  return warnings.some((warning) => warning.startsWith('logoUrl:'));
}
