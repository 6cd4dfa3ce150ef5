// Reads an e-invoice of others: a file in UBL or CII, alone or in a PDF.
import { problemOf } from '../../errors.ts';
import { headerOf } from '../../pdf/read/open-pdf.ts';
import { findInPdf } from './find-in-pdf.ts';
import { parseXml, Unreadable } from './parse-xml.ts';
import { readCii } from './read-cii.ts';
import { readUbl } from './read-ubl.ts';
import type { ReceivedFile, ReceivedInvoice } from './received-invoice.ts';

/** The syntaxes, by the namespace of the root element. */
const SYNTAXES = {
  'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2': { syntax: 'ubl', read: readUbl },
  'urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2': { syntax: 'ubl', read: readUbl },
  'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100': { syntax: 'cii', read: readCii },
} as const;

export interface ReadEInvoice {
  syntax: 'ubl' | 'cii';
  invoice: ReceivedInvoice;
  /** The files in the PDF. Empty for XML that stood alone. */
  files: ReceivedFile[];
}

/** Returns what stands in the file. @throws Unreadable. */
export function readEInvoice(bytes: Uint8Array): ReadEInvoice {
  const isPdf = headerOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) !== undefined;
  const { xml, files } = isPdf ? findInPdf(bytes) : { xml: bytes, files: [] };
  const root = parseXml(xml);
  const known = Object.hasOwn(SYNTAXES, root.space) ? SYNTAXES[root.space as keyof typeof SYNTAXES] : undefined;
  if (!known)
    throw new Unreadable(problemOf('file', 'e_invoice_syntax_unknown', { root: root.name.slice(0, NAME_SHOWN) }));
  return { syntax: known.syntax, invoice: known.read(root), files };
}

/** Characters of a foreign name in an error. */
const NAME_SHOWN = 60;
