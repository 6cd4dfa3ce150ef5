// A case in the terms of EN 16931.
import { creditNoteTerms, invoiceTerms } from '#libs/e-invoice/from-record.ts';
import type { EInvoice } from '#libs/e-invoice/terms.ts';
import type { CreditNoteRecord } from '#libs/models/billing/credit-note.ts';
import type { InvoiceRecord } from '#libs/models/billing/invoice.ts';
import type { Case } from './cases.ts';

export function termsOfCase({ kind, record, parties, attachments }: Case): EInvoice {
  const surroundings = { parties, today: '2026-11-21' };
  const terms =
    kind === 'invoice'
      ? invoiceTerms(record as InvoiceRecord, surroundings)
      : creditNoteTerms(record as CreditNoteRecord, surroundings);
  return { ...terms, attachments };
}
