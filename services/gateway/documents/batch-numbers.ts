// The numbers of the documents that a new batch names.
import { appError, type Problem, problemOf } from '#libs/errors.ts';
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
  const problems: Problem[] = [];
  const numbers = documents.map(({ type, id }, index) => {
    const { number, number_text } = known[type].get(id) ?? {};
    const record = type === 'invoice' ? 'Invoice' : 'Quote';
    if (number === undefined) problems.push(problemOf(`documents.${index}.id`, 'not_found', { record }));
    return { number: number ?? 0, ...(number_text ? { number_text } : {}) };
  });
  if (problems.length > 0) throw appError('document_not_found', undefined, { problems });
  return numbers;
}
