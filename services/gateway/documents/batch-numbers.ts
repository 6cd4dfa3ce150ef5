// The numbers of the documents that a new batch names.
import { AppError } from '#libs/errors.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { Quote } from '#libs/models/billing/quote.ts';
import type { DocumentKind } from '#libs/models/documents/document-batch.ts';
import { findAllOwn } from '#libs/models/records.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { Session } from '#libs/mongo/connection.ts';
import type { NewBatch } from './batch-input.ts';

export interface Numbered {
  number: number;
  number_text?: string;
}

/** @throws AppError 404 that names every place whose document the account does not have. */
export async function numbersOf(
  accountId: Id,
  documents: NewBatch['documents'],
  session: Session,
): Promise<Numbered[]> {
  const idsOf = (kind: DocumentKind) => documents.filter(({ type }) => type === kind).map(({ id }) => id);
  const known = {
    invoice: await findAllOwn(Invoice, accountId, idsOf('invoice'), ['number', 'number_text'], session),
    quote: await findAllOwn(Quote, accountId, idsOf('quote'), ['number', 'number_text'], session),
  };
  const details: Record<string, string[]> = {};
  const numbers = documents.map(({ type, id }, index) => {
    const { number, number_text } = known[type].get(id) ?? {};
    const word = type === 'invoice' ? 'Invoice' : 'Quote';
    if (number === undefined) details[`documents.${index}.id`] = [`${word} not found or access denied`];
    return { number: number ?? 0, ...(number_text ? { number_text } : {}) };
  });
  if (Object.keys(details).length > 0) throw new AppError(404, 'Document not found or access denied', { details });
  return numbers;
}
