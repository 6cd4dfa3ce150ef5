// Makes an invoice of a quote: of all of it, of a part, or of the rest that earlier parts leave.
import { addDays, dayIn } from '../../day.ts';
import { appError } from '../../errors.ts';
import type { AccountRecord } from '../../models/accounts/account.ts';
import { Client } from '../../models/accounts/client.ts';
import type { DocumentTexts } from '../../models/billing/document-fields.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { effectiveQuoteStatus, Quote, type QuoteRecord } from '../../models/billing/quote.ts';
import { invoicesOfQuotes } from '../../models/billing/quote-invoices.ts';
import { changeOwn, findOwn, lockOwn } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import { changedCharges, type GivenCharges } from '../../rules/documents/document-charges.ts';
import { acceptedBy, isChangedSince } from '../../rules/quotes/acceptance.ts';
import { paymentDays } from '../documents/client-terms.ts';
import { createInvoice, type MadeInvoice } from '../documents/create-invoice.ts';
import { drawDocument } from '../documents/new-document.ts';
import { endMail } from '../messages/end-mail.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { requireLines } from '../work/time-line-links.ts';
import { deductedOf } from './final-invoice.ts';
import { convertedLines, type WantedPart } from './quote-lines.ts';
import { acceptedFields } from './store-quote.ts';

export interface Conversion extends WantedPart {
  due_date?: string | undefined;
  status: 'Draft' | 'Sent';
  description?: string | null | undefined;
  /** True when the owner accepts on behalf of the client. */
  accept: boolean;
  accept_changes: boolean;
  /** Charges that replace those of the quote. Only an invoice in full may have them, because parts add up to the quote. */
  charges?: GivenCharges | undefined;
  /** Texts that replace those of the quote. */
  texts?: DocumentTexts | undefined;
}

/** The most invoices of a quote. It shows all of them, also in a list. */
const PARTS_MAX = 500;

/** The result of a conversion. The caller announces it in the form that quotes show. */
export interface Converted {
  quote: QuoteRecord;
  invoice: InvoiceRecord;
  view: MadeInvoice['view'];
  isAccepted: boolean;
}

/**
 * Converts a quote. Every conversion writes the quote, so that of two at once the second sees the first.
 * @param missing makes the 404.
 * @throws AppError 409 when nothing, or less, is left to bill, or the quote is not accepted in its present form.
 */
export async function convertQuote(
  unit: UnitOfWork,
  { id, wanted, missing }: { id: Id; wanted: Conversion; missing: () => Error },
): Promise<Converted> {
  const { accountId, session } = unit;
  const drawn = await drawDocument(unit, 'invoice', undefined);
  const { account } = drawn;
  const quote = await lockOwn(Quote, accountId, id, session);
  if (!quote) throw missing();
  requireAgreed(quote, account, wanted);
  const parts = (await invoicesOfQuotes([quote._id], accountId, session)).get(String(quote._id)) ?? [];
  if (parts.length >= PARTS_MAX) throw appError('quote_part_limit_reached', { limit: PARTS_MAX });
  const client = await findOwn(Client, accountId, quote.client_id, session);
  const isClaimed = wanted.part === 'full' || wanted.part === 'final';
  const line_items = convertedLines(quote, parts, { wanted, account });
  requireLines(line_items.length, 'bill what is left as a progress invoice');
  const { invoice, view } = await createInvoice(unit, drawn, {
    client_id: quote.client_id,
    project_id: quote.project_id,
    currency: quote.currency,
    // The terms are the agreed ones, whatever the client's treatment has become.
    terms: { tax_rate: quote.tax_rate, tax_category: quote.tax_category },
    prices_include_tax: quote.prices_include_tax,
    details: 'list',
    line_items,
    ...(wanted.part === 'full' ? { charges: changedCharges(quote, wanted.charges ?? {}) } : {}),
    texts: { notes: quote.notes, terms: quote.terms, ...wanted.texts },
    dates: { service_date: quote.service_date, service_period: quote.service_period },
    early_payment_discounts: quote.early_payment_discounts,
    due_date: wanted.due_date ?? addDays(dayIn(account.time_zone), paymentDays(client ?? {}, account)),
    status: wanted.status,
    description: wanted.description ?? quote.description,
    origin: {
      order_reference: quote.order_reference,
      quote_id: quote._id,
      quote_number: printedNumber('quote', quote),
      quote_part: wanted.part,
      ...(isClaimed ? { quote_claim: quote._id } : {}),
      ...(wanted.part === 'final' ? { quote_deducted: deductedOf(parts) } : {}),
    },
  });
  return { invoice, view, ...(await recordConversion(unit, quote, wanted)) };
}

async function recordConversion(unit: UnitOfWork, quote: QuoteRecord, { accept, accept_changes }: Conversion) {
  const isAccepted = accept && quote.status !== 'Accepted';
  const changes: Partial<QuoteRecord> = {
    converted_at: quote.converted_at ?? new Date(),
    ...(isAccepted ? await acceptedFields(unit, quote, 'owner') : {}),
    ...(accept_changes && isChangedSince(quote) ? { acceptance: acceptedBy('owner', quote) } : {}),
  };
  Object.assign(changes, await endMail(unit, 'quote', { ...quote, ...changes }));
  return { quote: await changeOwn(Quote, quote, changes, unit.session), isAccepted };
}

/**
 * Checks the acceptance.
 * @throws AppError 409 unless the quote was accepted in its present form, or is accepted with this call.
 */
function requireAgreed(quote: QuoteRecord, { time_zone }: AccountRecord, { accept, accept_changes }: Conversion): void {
  const status = effectiveQuoteStatus(quote, dayIn(time_zone));
  if (status === 'Declined') throw appError('quote_declined');
  if (status !== 'Accepted') {
    if (!accept) throw appError('quote_not_accepted');
    return;
  }
  if (isChangedSince(quote) && !accept_changes) throw appError('quote_changed_since_accepted');
}
