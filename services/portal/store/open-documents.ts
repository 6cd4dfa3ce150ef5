// Reads the open invoices of a client and the quotes that it can accept, a page at a time.
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { printedNumber } from '#libs/models/billing/number-ledger.ts';
import { partiesOf, WITHOUT_ISSUER } from '#libs/models/billing/parties.ts';
import { Quote, type QuoteRecord } from '#libs/models/billing/quote.ts';
import { driverOf } from '#libs/models/records.ts';
import { isId, storedId } from '#libs/models/tenant.ts';
import type { DocumentSubject, Visit } from '../client/visit.ts';

const PAGE_SIZE = 25;
/** Quotes of one client that wait for an answer at the same time. They come before the invoices. */
const QUOTES_MAX = 25;

interface Listed {
  subject: DocumentSubject;
  number: string;
}

/** Returns a page of documents. @param after the last invoice of the page before. */
export async function findOpenDocuments(
  { link, account, subject: { record: client }, today }: Visit,
  after: string | undefined,
): Promise<{ documents: Listed[]; next?: string }> {
  const { account_id, client_id } = link;
  const own = { account_id, client_id };
  // A list needs neither lines nor the issuer, who may have an inlined logo.
  const projection = { line_items: 0, notes: 0, terms: 0, description: 0, ...WITHOUT_ISSUER };
  const parties = partiesOf(account, client as Parameters<typeof partiesOf>[1]);
  const from = after !== undefined && isId(after) ? { _id: { $gt: storedId(after) } } : {};
  const invoices = (await driverOf(Invoice)
    .find({ ...own, status: { $in: ['Sent', 'Overdue'] }, amount: { $gt: 0 }, ...from } as object, {
      projection,
      sort: { _id: 1 },
      limit: PAGE_SIZE + 1,
      hint: { account_id: 1, client_id: 1, _id: 1 },
    })
    .toArray()) as unknown as InvoiceRecord[];
  const quotes = ('_id' in from
    ? []
    : await driverOf(Quote)
        .find({ ...own, status: 'Sent', expires_at: { $gte: today } } as object, {
          projection,
          sort: { _id: 1 },
          limit: QUOTES_MAX,
          hint: { account_id: 1, client_id: 1, _id: 1 },
        })
        .toArray()) as unknown as QuoteRecord[];
  const shown = invoices.slice(0, PAGE_SIZE);
  const last = shown.at(-1);
  return {
    documents: [
      ...quotes.map((record) => ({
        subject: { type: 'quote', record, parties } as const,
        number: printedNumber('quote', record),
      })),
      ...shown.map((record) => ({
        subject: { type: 'invoice', record, parties } as const,
        number: printedNumber('invoice', record),
      })),
    ],
    ...(invoices.length > PAGE_SIZE && last ? { next: String(last._id) } : {}),
  };
}
