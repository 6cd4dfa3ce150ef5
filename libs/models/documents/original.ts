// The originals of a document: the PDF that was printed first after the document was issued, and each e-invoice of it, kept for good.
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { Schema } from 'mongoose';
import { inTransaction, type Session } from '../../mongo/connection.ts';
import { isDuplicate } from '../../mongo/errors.ts';
import { NUMBER_KINDS, type NumberKind } from '../../rules/documents/number-kinds.ts';
import { Quote } from '../billing/quote.ts';
import { finishCounter, learnSum } from '../counter.ts';
import { readInTurn } from '../read-in-turn.ts';
import { driverOf, lockOwn, type Owned, recordsOf } from '../records.ts';
import { countStored, quotaStep, sizeOf } from '../stored-bytes.ts';
import { type Id, idField, newRecord, requiredIdField, type StoredId, storedId, tenant } from '../tenant.ts';

/** The largest file that is kept, in bytes. A record of MongoDB may have 16 MiB. */
export const ORIGINAL_BYTES_MAX = 8 * 2 ** 20;
/** The most versions of one document. Only a quote changes after it was sent, and a receipt with its payment. */
const VERSIONS_MAX = 50;

/** A version of a document, named by its content. */
export interface Version {
  kind: NumberKind;
  documentId: StoredId;
  clientId: StoredId;
  /** The fingerprint of all that is printed, see printed-content.ts. */
  content: string;
}

export interface OriginalRecord extends Owned {
  kind: NumberKind;
  document_id: StoredId;
  content: string;
  /** The file, deflated. */
  bytes: Buffer;
  /** The size of the file. */
  size_bytes: number;
  /** The SHA-256 of the file, in hex. */
  sha256: string;
  /** The renderer's warnings, as in X-Document-Warnings. Absent where there are none. */
  warnings?: string[] | undefined;
  created_at: Date;
}

const originalSchema = new Schema(
  {
    _id: idField,
    account_id: requiredIdField,
    kind: { type: String, enum: NUMBER_KINDS, required: true },
    document_id: requiredIdField,
    content: { type: String, required: true },
    bytes: { type: Buffer, required: true },
    size_bytes: { type: Number, required: true },
    sha256: { type: String, required: true },
    warnings: { type: [String], default: undefined },
    created_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'originals' },
);
originalSchema.plugin(tenant);
// Several gateways may print one version at once: one of them keeps it.
originalSchema.index({ account_id: 1, document_id: 1, content: 1 }, { unique: true });

export const Original = recordsOf<OriginalRecord>('Original', originalSchema);

const deflated = promisify(deflate);
const inflated = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate);

const filterOf = (accountId: Id, { documentId, content }: Version) =>
  ({ account_id: storedId(accountId), document_id: documentId, content }) as object;

/** A PDF or an e-invoice, with what could not be printed as it was asked for. */
export interface MadeFile {
  bytes: Buffer;
  warnings: string[];
}

/** A file that is kept. */
export interface KeptFile extends MadeFile {
  /** The SHA-256 of `bytes`, in hex. */
  sha256: string;
}

/** Returns the original of this version, or undefined when none is kept. */
export async function findOriginal(accountId: Id, version: Version): Promise<KeptFile | undefined> {
  return readInTurn(accountId, async () => {
    const found = await driverOf(Original).findOne(filterOf(accountId, version), {
      projection: { bytes: 1, size_bytes: 1, sha256: 1, warnings: 1 },
      promoteBuffers: true,
    });
    if (!found) return undefined;
    const { bytes, size_bytes, sha256, warnings = [] } = found as OriginalRecord;
    return { bytes: await inflated(bytes, { maxOutputLength: size_bytes }), sha256, warnings };
  });
}

/** Returns the bytes of the original of this version, or undefined when none is kept. */
export async function findOriginalSize(accountId: Id, version: Version): Promise<number | undefined> {
  const found = await driverOf(Original).findOne(filterOf(accountId, version), { projection: { size_bytes: 1 } });
  return (found as OriginalRecord | null)?.size_bytes;
}

/**
 * Keeps the file as the original of this version. One that is kept already stays.
 * @param quotaBytes of all that the account keeps. Undefined: any amount.
 * @returns the file that is the original, which is another one's where that was faster; undefined when the document has
 * too many versions, the file too many bytes, or the document became a draft again, was deleted or got another client meanwhile.
 * @throws AppError 409 over the quota.
 */
export async function keepOriginal(
  accountId: Id,
  version: Version,
  made: MadeFile,
  quotaBytes: number | undefined,
): Promise<KeptFile | undefined> {
  const { bytes, warnings } = made;
  if (bytes.length > ORIGINAL_BYTES_MAX) return undefined;
  const { _id, account_id, created_at } = newRecord(accountId);
  const { kind, documentId, content } = version;
  const record: OriginalRecord = {
    _id,
    account_id,
    kind,
    document_id: documentId,
    content,
    bytes: await deflated(bytes),
    size_bytes: bytes.length,
    sha256: hash('sha256', bytes),
    ...(warnings.length > 0 ? { warnings } : {}),
    created_at,
  };
  try {
    return await inTransaction(async (session) => {
      if (!(await lockIssued(accountId, version, session))) return undefined;
      const versions = { account_id, document_id: documentId } as object;
      const count = await driverOf(Original).countDocuments(versions, { session, limit: VERSIONS_MAX });
      if (count >= VERSIONS_MAX) return undefined;
      await driverOf(Original).insertOne(record, { session });
      await countBytes(session, accountId, sizeOf(record), quotaBytes);
      return { ...made, sha256: record.sha256 };
    });
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return findOriginal(accountId, version);
  }
}

/**
 * Locks the document against a change in the same moment that removes its originals, which would leave the file. Of all
 * kinds, only a quote becomes a draft again, and can then be deleted or get another client.
 * @returns false when it is not issued to that client any more.
 */
async function lockIssued(accountId: Id, { kind, documentId, clientId }: Version, session: Session): Promise<boolean> {
  if (kind !== 'quote') return true;
  const quote = await lockOwn(Quote, accountId, documentId, session);
  return quote !== null && quote.status !== 'Draft' && quote.client_id.equals(clientId);
}

async function countBytes(session: Session, accountId: Id, bytes: number, quotaBytes: number | undefined) {
  countStored(session, bytes);
  await learnSum(session, accountId);
  await finishCounter(session, accountId, quotaStep(session, quotaBytes));
}

/** Removes all versions of a document, because the document itself is removed. */
export async function removeOriginals(accountId: Id, documentId: StoredId, session: Session): Promise<void> {
  const versions = { account_id: storedId(accountId), document_id: documentId } as object;
  const sizes = await driverOf(Original)
    .aggregate<{ size: number }>([{ $match: versions }, { $project: { size: { $bsonSize: '$$ROOT' } } }], { session })
    .toArray();
  if (sizes.length === 0) return;
  await driverOf(Original).deleteMany(versions, { session });
  for (const { size } of sizes) countStored(session, -size);
}
