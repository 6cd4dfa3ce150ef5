// Makes an invoice with a drawn number: computes its amounts, checks its references, and announces it.
import type { DetailsForm } from '../../errors.ts';
import type { ClientRecord } from '../../models/accounts/client.ts';
import type { DocumentTexts } from '../../models/billing/document-fields.ts';
import { documentSearch } from '../../models/billing/document-search.ts';
import { Invoice, type InvoiceRecord, invoiceMarks, invoiceView } from '../../models/billing/invoice.ts';
import { insertOwn } from '../../models/records.ts';
import type { ProjectRecord } from '../../models/time/project.ts';
import type { GivenCharges } from '../../rules/documents/document-charges.ts';
import { type DocumentMoney, invoiceMoney } from '../../rules/documents/document-money.ts';
import type { EarlyPaymentDiscount } from '../../rules/money/early-payment.ts';
import type { Decimal } from '../../rules/money/money.ts';
import type { NewTaxTerms } from '../../rules/taxes/document-taxes.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { earlyPaymentFor } from './client-terms.ts';
import { requireComplete } from './complete-invoice.ts';
import { type DocumentContent, type DrawnDocument, newDocument } from './new-document.ts';
import { requirePrintableContent } from './printable-size.ts';

export interface InvoiceContent extends Omit<DocumentContent<DocumentMoney>, 'description' | 'moneyOf'> {
  /** The currency. Defaults to the client's. */
  currency?: string | undefined;
  /** The amount in major units. It counts where there are no lines. */
  amount?: Decimal | undefined;
  prices_include_tax?: boolean | null | undefined;
  charges?: GivenCharges | undefined;
  texts?: DocumentTexts | undefined;
  /** The form of the problems in a 400. */
  details?: DetailsForm | undefined;
  due_date: string;
  /** The discounts for early payment. Those of client or account when absent. */
  early_payment_discounts?: EarlyPaymentDiscount[] | null | undefined;
  description?: string | null | undefined;
  /** Fields about the origin of the invoice, which are stored with it. */
  origin?: Partial<InvoiceRecord>;
}

export interface MadeInvoice {
  invoice: InvoiceRecord;
  view: ReturnType<typeof invoiceView>;
  /** The records that the view shows with it. */
  client: ClientRecord;
  project: ProjectRecord | undefined;
}

/**
 * Makes an invoice.
 * @param drawn its number, which drawDocument has to draw before anything else is read.
 * @throws AppError
 * - 404 for a client or project that is not the account's,
 * - 409 for an anonymised client, and for an issued invoice that is not complete,
 * - 400 for amounts and dates,
 * - 422 for texts that could not be printed.
 */
export async function createInvoice(
  unit: UnitOfWork,
  drawn: DrawnDocument,
  content: InvoiceContent,
): Promise<MadeInvoice> {
  const { session, announce, warnings } = unit;
  const { amount = 0, status, due_date, line_items, charges, texts = {} } = content;
  const description = content.description || null;
  requirePrintableContent({ line_items, description, ...texts });
  const prices_include_tax = content.prices_include_tax ?? undefined;
  const given = { amount, prices_include_tax, line_items, charges, issuer: drawn.account };
  const moneyOf = (terms: NewTaxTerms, currency: string) =>
    invoiceMoney({ ...given, ...terms, currency }, content.details);
  const document = { ...content, description, moneyOf };
  const { fields, client, project } = await newDocument(unit, drawn, document, content.details);
  const invoice: InvoiceRecord = {
    ...fields,
    ...invoiceMarks({ status, amount: fields.amount, due_date }),
    due_date,
    early_payment_discounts: earlyPaymentFor(content.early_payment_discounts, client, drawn.account),
    ...texts,
    amount_paid: 0,
    ...content.origin,
  };
  const { parties } = invoice;
  if (parties) {
    const issued = { account: drawn.account, client, invoice: { ...invoice, parties } };
    requireComplete(issued, { warnings, form: content.details });
  }
  invoice.search = documentSearch(invoice);
  await insertOwn(Invoice, invoice, session);
  const view = invoiceView(invoice, { client, project, status });
  await announce('invoice.created', view);
  if (status === 'Sent') await announce('invoice.sent', view);
  return { invoice, view, client, project };
}
