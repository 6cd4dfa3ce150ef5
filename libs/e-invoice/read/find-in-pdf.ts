// Finds the e-invoice among the files in a PDF: Factur-X, ZUGFeRD, and PDFs of others with an invoice as XML inside.
import { problemOf } from '../../errors.ts';
import { embeddedFiles, type FileInPdf } from '../../pdf/read/embedded-files.ts';
import { BudgetExceeded, EncryptedPdf, openPdf } from '../../pdf/read/open-pdf.ts';
import { BrokenPdf, type PdfStream } from '../../pdf/read/parse-object.ts';
import { Unreadable } from './parse-xml.ts';
import type { ReceivedFile } from './received-invoice.ts';

const MIB = 2 ** 20;
/** The limit of all that is unpacked: tables of objects, and the XML. */
const UNPACKED_MIB_MAX = 32;
/** The names of the standards, the newest first (Factur-X 1.09, ZUGFeRD 2.5, 2.0 and 1.0). */
const NAMES = ['factur-x.xml', 'xrechnung.xml', 'zugferd-invoice.xml'];
/** Relations that say that the file is the invoice, or what it is made from (Factur-X 1.09, chapter 6). */
const RELATIONS = new Set(['Alternative', 'Data', 'Source']);
const XML_TYPES = new Set(['text/xml', 'application/xml']);
/** Names in an error. */
const NAMES_SHOWN = 5;

/** Returns the XML, and the list of all files in the PDF. @throws Unreadable. */
export function findInPdf(bytes: Uint8Array): { xml: Uint8Array; files: ReceivedFile[] } {
  try {
    const pdf = openPdf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), UNPACKED_MIB_MAX * MIB);
    const files = embeddedFiles(pdf);
    const chosen = chosenOf(files);
    return {
      xml: pdf.unpacked(chosen.content),
      files: files.map((file) => ({
        file_name: file.name,
        description: file.description,
        media_type: file.mediaType,
        size_bytes: file.sizeBytes,
        relationship: file.relationship,
        is_invoice: file === chosen,
      })),
    };
  } catch (error) {
    if (error instanceof EncryptedPdf) throw new Unreadable(problemOf('file', 'e_invoice_pdf_encrypted'));
    if (error instanceof BudgetExceeded) {
      throw new Unreadable(problemOf('file', 'e_invoice_pdf_unpacks', { limit_mib: UNPACKED_MIB_MAX }));
    }
    if (error instanceof BrokenPdf)
      throw new Unreadable(problemOf('file', 'e_invoice_pdf_broken', { reason: error.message }));
    throw error;
  }
}

type Stored = FileInPdf & { content: PdfStream };

/** Prefers a name of the standards, then an XML file with a relation of theirs, then any XML file. Never guesses between two. */
function chosenOf(files: readonly FileInPdf[]): Stored {
  const stored = files.filter((file): file is Stored => file.content !== undefined);
  for (const name of NAMES) {
    const named = stored.filter((file) => file.name?.toLowerCase() === name);
    if (named.length > 0) return onlyOne(named);
  }
  const isXml = ({ name, mediaType }: Stored) => /\.xml$/i.test(name ?? '') || XML_TYPES.has(mediaType ?? '');
  const xml = stored.filter(isXml);
  const related = xml.filter(({ relationship }) => RELATIONS.has(relationship ?? ''));
  return onlyOne(related.length > 0 ? related : xml);
}

function onlyOne(candidates: readonly Stored[]): Stored {
  const [first, ...others] = candidates;
  if (!first) throw new Unreadable(problemOf('file', 'e_invoice_pdf_without_xml'));
  if (others.length === 0) return first;
  const names = candidates.slice(0, NAMES_SHOWN).map(({ name }) => (name ?? '?').slice(0, 60));
  throw new Unreadable(problemOf('file', 'e_invoice_pdf_several', { names: names.join(', ') }));
}
