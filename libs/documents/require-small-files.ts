// Checks the size of the files of a mail before it is planned, as far as they are made already.
import { sumBy } from 'es-toolkit/math/sumBy';
import { type FormatName, formatOf } from '../e-invoice/formats.ts';
import { appError } from '../errors.ts';
import { listAttachments } from '../models/documents/attachments.ts';
import { findOriginalSize } from '../models/documents/original.ts';
import { MAIL_FILES_BYTES_MAX } from '../models/messages/mail-source.ts';
import type { Id } from '../models/tenant.ts';
import { eInvoiceSource, eInvoiceVersion } from './find-e-invoice.ts';
import { type RecordOfKind, versionOf } from './printed-content.ts';

const TENTH_MIB = 2 ** 20 / 10;

/**
 * Checks the files that a mail about the document brings: the original, the e-invoice, and the files that the caller added.
 * One that was never made has no size yet.
 * @param hasPdf true when the mail is to bring the PDF.
 * @param format of the e-invoice that goes with it.
 * @throws AppError 422 that names the size.
 */
export async function requireSmallFiles<Kind extends 'invoice' | 'credit_note'>(
  kind: Kind,
  record: RecordOfKind[Kind],
  { accountId, hasPdf, format }: { accountId: Id; hasPdf: boolean; format: FormatName | undefined },
): Promise<void> {
  const hasOwnPdf = hasPdf && !(format && formatOf(format).embedded);
  const sizes: (number | undefined)[] = [];
  if (hasOwnPdf) sizes.push(await findOriginalSize(accountId, versionOf(kind, record)));
  if (format) {
    sizes.push(await findOriginalSize(accountId, eInvoiceVersion(eInvoiceSource(kind, accountId, record), format)));
  } else if (kind === 'invoice') {
    sizes.push(sumBy(await listAttachments(accountId, record._id), ({ size_bytes }) => size_bytes));
  }
  const size = sumBy(sizes, (one) => one ?? 0);
  if (size <= MAIL_FILES_BYTES_MAX) return;
  const [size_mib, limit_mib] = [Math.ceil(size / TENTH_MIB) / 10, Math.floor(MAIL_FILES_BYTES_MAX / TENTH_MIB) / 10];
  throw appError('mail_files_too_large', { size_mib, limit_mib });
}
