// Gives a draft other lines, and the sums that follow from them.
import type { DocumentDates } from '../../models/billing/document-dates.ts';
import { documentSearch } from '../../models/billing/document-search.ts';
import { Invoice, type InvoiceRecord } from '../../models/billing/invoice.ts';
import { changeOwn } from '../../models/records.ts';
import { givenCharges } from '../../rules/documents/document-charges.ts';
import { invoiceMoney } from '../../rules/documents/document-money.ts';
import type { TaxIssuer } from '../../rules/taxes/document-taxes.ts';
import { announceQuotes } from '../quotes/announce-quotes.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { withGivenTexts } from '../work/line-texts.ts';

export async function rewritten(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
  { expenses, ...made }: Pick<InvoiceRecord, 'line_items' | 'time' | 'expenses'>,
  { issuer, dates }: { issuer: TaxIssuer; dates: DocumentDates },
): Promise<InvoiceRecord> {
  const { line_items, time } = withGivenTexts(made);
  const { currency, tax_rate, tax_category, prices_include_tax } = invoice;
  const terms = { currency, tax_rate, tax_category, prices_include_tax };
  const money = invoiceMoney({ ...terms, line_items, charges: givenCharges(invoice), issuer });
  const changes: Partial<InvoiceRecord> = { ...money, ...dates, time, expenses };
  changes.search = documentSearch({ ...invoice, ...changes });
  const changed = await changeOwn(Invoice, invoice, changes, unit.session);
  await announceQuotes(unit, [{ before: invoice, after: changed }]);
  return changed;
}
