// Gives a draft other lines, and the sums that follow from them.
import { appError } from '../../errors.ts';
import type { DocumentDates } from '../../models/billing/document-dates.ts';
import { documentSearch } from '../../models/billing/document-search.ts';
import { Invoice, type InvoiceRecord } from '../../models/billing/invoice.ts';
import { changeOwn } from '../../models/records.ts';
import { type GivenCharges, givenCharges } from '../../rules/documents/document-charges.ts';
import { invoiceMoney } from '../../rules/documents/document-money.ts';
import { writtenAmount } from '../../rules/money/balance.ts';
import { sumOfLines } from '../../rules/money/money.ts';
import type { TaxIssuer } from '../../rules/taxes/document-taxes.ts';
import { announceQuotes } from '../quotes/announce-quotes.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { withGivenTexts } from '../work/given-texts.ts';

/**
 * The money and the dates follow the lines.
 * @throws AppError 409 for lines that sum to less than the discount, and as invoiceMoney does.
 */
export async function rewritten(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
  { expenses, ...made }: Pick<InvoiceRecord, 'line_items' | 'time' | 'expenses'>,
  { issuer, dates }: { issuer: TaxIssuer; dates: DocumentDates },
): Promise<InvoiceRecord> {
  const { line_items, time } = withGivenTexts(made);
  const { currency, tax_rate, tax_category, prices_include_tax } = invoice;
  const terms = { currency, tax_rate, tax_category, prices_include_tax };
  const money = invoiceMoney({ ...terms, line_items, charges: chargesOn(line_items, invoice), issuer });
  const changes: Partial<InvoiceRecord> = { ...money, ...dates, time, expenses };
  changes.search = documentSearch({ ...invoice, ...changes });
  const changed = await changeOwn(Invoice, invoice, changes, unit.session);
  await announceQuotes(unit, [{ before: invoice, after: changed }]);
  return changed;
}

/**
 * Returns the charges of the draft with other lines. A draft without lines has nothing that an amount could be taken off or
 * added to, so it keeps a percentage alone.
 */
function chargesOn(line_items: InvoiceRecord['line_items'], invoice: InvoiceRecord): GivenCharges {
  const { currency, discount_amount = 0, discount_percent } = invoice;
  if (!line_items) return { discount_percent };
  const left = sumOfLines(line_items, currency);
  if (discount_percent !== undefined || discount_amount <= left) return givenCharges(invoice);
  throw appError('discount_exceeds_lines', {
    left: writtenAmount(left, currency),
    discount: writtenAmount(discount_amount, currency),
  });
}
