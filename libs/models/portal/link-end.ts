// When a link to a document ends: as its maker chose, or some time after nothing more is due or can be accepted.
import type { Session } from '../../mongo/connection.ts';
import { isPayable } from '../../rules/documents/invoice-states.ts';
import { standardEnd } from '../../rules/documents/link-terms.ts';
import { dueOf } from '../../rules/money/balance.ts';
import { Invoice, type InvoiceRecord } from '../billing/invoice.ts';
import { effectiveQuoteStatus, Quote, type QuoteRecord } from '../billing/quote.ts';
import { driverOf, findOwn, type Records, type Stamped } from '../records.ts';
import type { DocumentLinkRecord } from './document-link.ts';

type Subject = Pick<DocumentLinkRecord, 'account_id' | 'subject_type' | 'subject_id'>;

/**
 * Returns when nothing more was due of this document, or it could not be accepted any more. Undefined while it is open.
 * @param today of the account.
 */
export function documentSettledAt(
  document: { type: 'invoice'; record: InvoiceRecord } | { type: 'quote'; record: QuoteRecord },
  today: string,
): Date | undefined {
  return document.type === 'invoice' ? invoiceSettledAt(document.record) : quoteSettledAt(document.record, today);
}

/**
 * Returns when nothing more was due, and nothing could be accepted. Undefined while something is or can be.
 * @param today of the account.
 */
export function settledAt(subject: Subject, today: string, session?: Session): Promise<Date | undefined> {
  return SETTLED_AT[subject.subject_type](subject, today, session);
}

/** Returns the end of a link. Undefined while it has none. @param settled see settledAt; all links of a document share it. */
export function linkEnd(
  { expires_at, created_at }: Pick<DocumentLinkRecord, 'expires_at' | 'created_at'>,
  settled: Date | undefined,
): Date | undefined {
  if (expires_at || !settled) return expires_at;
  // A link that is made long after the settlement is as useful as one that was made before.
  return standardEnd(settled > created_at ? settled : created_at);
}

const LONG_AGO = new Date(0);

const SETTLED_AT = {
  async invoice({ account_id, subject_id }: Subject, _today: string, session?: Session) {
    const invoice: InvoiceRecord | null = await findOwn(Invoice, String(account_id), subject_id, session);
    return invoice ? invoiceSettledAt(invoice) : LONG_AGO;
  },
  async quote({ account_id, subject_id }: Subject, today: string, session?: Session) {
    const quote: QuoteRecord | null = await findOwn(Quote, String(account_id), subject_id, session);
    return quote ? quoteSettledAt(quote, today) : LONG_AGO;
  },
  async client({ account_id, subject_id: client_id }: Subject, today: string, session?: Session) {
    const own = { account_id, client_id };
    const openInvoice = { ...own, status: { $in: ['Sent', 'Overdue'] }, amount: { $gt: 0 } };
    if (await latest(Invoice, openInvoice, session)) return undefined;
    if (await latest(Quote, { ...own, status: 'Sent', expires_at: { $gte: today } }, session)) return undefined;
    const times = [await latest(Invoice, own, session), await latest(Quote, own, session)];
    return new Date(Math.max(0, ...times.map((time) => time?.getTime() ?? 0)));
  },
};

/** Returns the day or time from which nothing was due. Undefined while something is, and for a draft. */
function invoiceSettledAt(invoice: InvoiceRecord): Date | undefined {
  const { status, paid_on, cancelled_on, updated_at } = invoice;
  if (status === 'Draft') return undefined;
  if (status !== 'Cancelled' && isPayable(invoice) && dueOf(invoice) > 0) return undefined;
  const day = paid_on ?? cancelled_on;
  return day ? new Date(day) : updated_at;
}

/** Returns the day or time from which it could not be accepted. Undefined while it can, and for a draft. */
function quoteSettledAt(quote: QuoteRecord, today: string): Date | undefined {
  const status = effectiveQuoteStatus(quote, today);
  if (status === 'Draft' || status === 'Sent') return undefined;
  return status === 'Expired' ? new Date(quote.expires_at) : (quote.acceptance?.at ?? quote.updated_at);
}

/** Returns when the latest of these documents was changed. */
async function latest(
  records: Pick<Records<Stamped>, 'collection'>,
  filter: object,
  session?: Session,
): Promise<Date | undefined> {
  const found = await driverOf(records).findOne(filter, {
    projection: { updated_at: 1 },
    sort: { updated_at: -1, _id: -1 },
    ...(session ? { session } : {}),
  });
  return (found as unknown as Stamped | null)?.updated_at;
}
