// Input of reading: a file that another program wrote.
import Joi from 'joi';
import { problemOf, validationFailed } from '#libs/errors.ts';
import { bytesOfBase64 } from '../fields/base64-file.ts';

export interface FileToRead {
  file: string;
}

const MIB = 2 ** 20;
/** An invoice with its attachments. */
const FILE_MIB_MAX = 4;
const FILE_BYTES_MAX = FILE_MIB_MAX * MIB;
/** The body, with the file in base64 and line breaks in it. */
export const READ_BODY_BYTES_MAX = 6 * MIB;

export const fileToRead = Joi.object<FileToRead, true>({
  file: Joi.string()
    .required()
    .description(
      `The file in base64: XML in UBL 2.1 or UN/CEFACT CII, or a PDF with it inside (Factur-X, ZUGFeRD), at most ${FILE_MIB_MAX} MiB`,
    ),
}).example({
  file: Buffer.from(
    '<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><ID xmlns="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">INV-0042</ID></Invoice>',
  ).toString('base64'),
});

/** @throws AppError 400 for a text that is no base64, or a file that is too large. */
export function bytesOf({ file }: FileToRead): Uint8Array {
  const given = bytesOfBase64(file);
  if (!given) throw validationFailed([problemOf('file', 'e_invoice_not_base64')]);
  const bytes = new Uint8Array(given);
  if (bytes.length > FILE_BYTES_MAX) {
    throw validationFailed([problemOf('file', 'e_invoice_file_too_large', { limit_mib: FILE_MIB_MAX })]);
  }
  return bytes;
}
