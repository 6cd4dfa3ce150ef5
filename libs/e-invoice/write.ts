// Writes a document in one of the formats.
import { ciiOf } from './cii.ts';
import { type FormatName, formatOf } from './formats.ts';
import type { EInvoice } from './terms.ts';
import { ublOf } from './ubl.ts';

/** Returns XML in UTF-8. @param invoice complete by the rules of the format, see missing.ts. */
export function writeEInvoice(invoice: EInvoice, format: FormatName): string {
  return formatOf(format).syntax === 'ubl' ? ublOf(invoice, format) : ciiOf(invoice, format);
}
