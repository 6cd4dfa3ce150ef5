// The files that a caller adds to a draft invoice, such as an order or a list of hours. They go out with the invoice.
import { Schema } from 'mongoose';
import type { Session } from '../../mongo/connection.ts';
import { readInTurn } from '../read-in-turn.ts';
import { driverOf, insertOwn, type Owned, recordsOf, removeOwn } from '../records.ts';
import { type Id, idField, newRecord, requiredIdField, type StoredId, storedId, tenant } from '../tenant.ts';

export interface AttachedFile {
  /** With an ending of ATTACHED_TYPES. */
  name: string;
  description: string | null;
  bytes: Buffer;
  size_bytes: number;
  /** The SHA-256 of `bytes`, in hex. */
  sha256: string;
}

/** All files of one invoice, which change together. */
interface AttachmentsRecord extends Owned {
  invoice_id: StoredId;
  files: AttachedFile[];
  created_at: Date;
}

/** The media types that EN 16931 allows (BT-125), by the ending of the name. */
export const ATTACHED_TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
};

/** Returns the media type of a file by the ending of its name. */
export function attachedType(name: string): string | undefined {
  return ATTACHED_TYPES[name.slice(name.lastIndexOf('.') + 1).toLowerCase()];
}

/** Returns the media type of a file that is stored, whose name was checked. */
export function mediaTypeOf({ name }: Pick<AttachedFile, 'name'>): string {
  return attachedType(name) ?? 'application/octet-stream';
}

const attachmentsSchema = new Schema(
  {
    _id: idField,
    account_id: requiredIdField,
    invoice_id: requiredIdField,
    files: [
      {
        _id: false,
        name: { type: String, required: true },
        description: String,
        bytes: { type: Buffer, required: true },
        size_bytes: { type: Number, required: true },
        sha256: { type: String, required: true },
      },
    ],
    created_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'attachments' },
);
attachmentsSchema.plugin(tenant);
attachmentsSchema.index({ account_id: 1, invoice_id: 1 }, { unique: true });

export const Attachments = recordsOf<AttachmentsRecord>('Attachments', attachmentsSchema);

const filterOf = (accountId: Id, invoiceId: Id | StoredId) =>
  ({ account_id: storedId(accountId), invoice_id: storedId(String(invoiceId)) }) as object;

/** Returns the files of an invoice in the order in which they were given. */
export async function findAttachments(accountId: Id, invoiceId: Id | StoredId): Promise<AttachedFile[]> {
  const found = await readInTurn(accountId, () =>
    driverOf(Attachments).findOne(filterOf(accountId, invoiceId), { promoteBuffers: true }),
  );
  return (found as AttachmentsRecord | null)?.files ?? [];
}

/** Returns the files of an invoice without their bytes. */
export async function listAttachments(
  accountId: Id,
  invoiceId: Id | StoredId,
  session?: Session,
): Promise<Omit<AttachedFile, 'bytes'>[]> {
  const found = await driverOf(Attachments).findOne(filterOf(accountId, invoiceId), {
    projection: { 'files.bytes': 0 },
    ...(session ? { session } : {}),
  });
  return (found as AttachmentsRecord | null)?.files ?? [];
}

/** Puts the files in the place of those that the invoice had. The caller holds the row lock of the invoice. */
export async function replaceAttachments(
  accountId: Id,
  invoiceId: StoredId,
  files: AttachedFile[],
  session: Session,
): Promise<void> {
  const before = await driverOf(Attachments).findOne(filterOf(accountId, invoiceId), { session });
  if (before) await removeOwn(Attachments, before as AttachmentsRecord, session);
  if (files.length === 0) return;
  const { _id, account_id, created_at } = newRecord(accountId);
  await insertOwn(Attachments, { _id, account_id, invoice_id: invoiceId, files, created_at }, session);
}
