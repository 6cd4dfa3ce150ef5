// The original of an issued document: kept since it was first printed, or printed and kept now.
import type { IssuedDocument } from '#libs/documents/find-document.ts';
import { AppError } from '#libs/errors.ts';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { findOriginal, keepOriginal, type PrintedPdf } from '#libs/models/documents/original.ts';
import type { Id } from '#libs/models/tenant.ts';
import { requireWholePdf } from '../printing/send-pdf.ts';

interface Printing {
  accountId: Id;
  /** Prints on a renderer. */
  print: (document: PrintableDocument) => Promise<PrintedPdf>;
  /** @returns the document as the renderer prints it, or undefined when its client is gone. */
  document: () => Promise<PrintableDocument | undefined>;
  /** Bytes of records, events and originals that the account may keep; any amount unless given. */
  quotaBytes?: number | undefined;
}

/** @returns the original, with `isKept` false where it is only a print of it; undefined when the client of the document is gone. */
export async function originalOf(
  issued: Pick<IssuedDocument, 'kind' | 'documentId' | 'content'>,
  { accountId, print, document: make, quotaBytes }: Printing,
): Promise<(PrintedPdf & { isKept: boolean }) | undefined> {
  const kept = await findOriginal(accountId, issued);
  if (kept) return { ...kept, isKept: true };
  const document = await make();
  if (!document) return undefined;
  const { bytes, warnings } = await print(document);
  requireWholePdf(bytes);
  // A print that lacks the logo is not kept, because the account does not want it as its original.
  if (isWithoutLogo(warnings)) return { bytes, warnings, isKept: false };
  try {
    const original = await keepOriginal(accountId, issued, { bytes, warnings }, quotaBytes);
    if (original) return { ...original, isKept: true };
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 409) throw error;
    return { bytes, warnings: [...warnings, `The original is not kept. ${error.message}`], isKept: false };
  }
  return {
    bytes,
    warnings: [...warnings, 'The original is not kept: it is too large, or has too many versions'],
    isKept: false,
  };
}

export function isWithoutLogo(warnings: readonly string[]): boolean {
  return warnings.some((warning) => warning.startsWith('logoUrl:'));
}
