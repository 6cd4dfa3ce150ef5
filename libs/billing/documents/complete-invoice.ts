// Checks an invoice that is issued now: what the law wants on it, and what its e-invoice needs.
import { dayIn } from '../../day.ts';
import { formatOf, neededFormat } from '../../e-invoice/formats.ts';
import { invoiceTerms } from '../../e-invoice/from-record.ts';
import { problemsOf } from '../../e-invoice/missing.ts';
import { appError, type DetailsForm } from '../../errors.ts';
import type { AccountRecord } from '../../models/accounts/account.ts';
import type { ClientRecord } from '../../models/accounts/client.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import type { Parties } from '../../models/billing/parties.ts';
import { missingByLaw } from '../../rules/documents/legal-content.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** An invoice with the parties that issuing froze. */
export type IssuedInvoice = InvoiceRecord & { parties: Parties };

/**
 * Adds what the law wants and the invoice lacks to the warnings.
 * @throws AppError 409 with everything that is missing at once: for the format of e-invoices that client or account
 * need, and by law when the account issues strictly.
 */
export function requireComplete(
  { account, client, invoice }: { account: AccountRecord; client: ClientRecord; invoice: IssuedInvoice },
  { warnings, form }: Pick<UnitOfWork, 'warnings'> & { form: DetailsForm | undefined },
): void {
  const byLaw = missingByLaw({ account, client, invoice });
  const refused = account.strict_invoices ? byLaw : [];
  const format = neededFormat(client, account);
  const surroundings = { parties: invoice.parties, today: invoice.issue_date ?? dayIn(account.time_zone) };
  const lacking = format ? problemsOf(() => invoiceTerms(invoice, surroundings), format) : [];
  const problems = [...lacking, ...refused];
  if (format && lacking.length > 0) {
    const { rules } = formatOf(format);
    throw appError('e_invoice_incomplete', { document: 'invoice', rules }, { problems, form });
  }
  if (refused.length > 0) throw appError('invoice_incomplete', undefined, { problems, form });
  warnings.push(...byLaw);
}
