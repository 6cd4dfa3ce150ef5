// The lines of a credit note. Each has the tax of the line that it credits, and pieces of a line of the invoice add up
// to that line.
import Big from 'big.js';
import { partition } from 'es-toolkit/array/partition';
import { appError, fieldProblem } from '../../errors.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { type LineExtras, type LineItem, lineItem } from '../../rules/documents/line-item.ts';
import { lineTexts } from '../../rules/documents/line-texts.ts';
import { fromMinor, lineNet, plainDecimal, sumOfLines } from '../../rules/money/money.ts';
import { taxesOf } from '../../rules/taxes/document-taxes.ts';
import { type LineTax, ownTax, taxOfLine } from '../../rules/taxes/tax-groups.ts';
import type { PricedHours } from '../../rules/time/included-by-rate.ts';

type Credited = Pick<
  InvoiceRecord,
  'currency' | 'tax_rate' | 'tax_category' | 'taxes' | 'amount' | 'tax_amount' | 'line_items' | 'number' | 'number_text'
>;

/** The lines of time with hours that were paid for before, by their place among the lines, from 1. */
export type ChargedLines = ReadonlyMap<number, PricedHours>;

/**
 * Returns the credited lines with their tax.
 * @param earlier lines of the invoice's credit notes.
 * @throws AppError 400 for a line of unknown tax, 409 for more of a line than is left.
 */
export function creditLines(
  invoice: Credited,
  earlier: readonly LineItem[],
  { lines, locale, charged }: { lines: readonly LineItem[]; locale: string; charged?: ChargedLines | undefined },
): LineItem[] {
  const taxed = lines.map((line, index) => lineItem({ ...line, ...taxOfCredit(invoice, line, index) }));
  const before = new Map<number, Big>();
  for (const line of earlier) if (isPiece(invoice, line)) add(before, line);
  const rounding = new Map<string, { tax: LineTax; sum: number }>();
  for (const line of taxed) {
    if (!isPiece(invoice, line)) continue;
    const { tax, by } = roundingOf(invoice, before, { line, charged });
    const key = `${tax.rate} ${tax.category}`;
    rounding.set(key, { tax, sum: (rounding.get(key)?.sum ?? 0) + by });
  }
  const differences = [...rounding.values()].filter(({ sum }) => sum !== 0);
  const description = lineTexts(locale).rounding;
  return [
    ...taxed,
    ...differences.map(({ tax, sum }) =>
      lineItem({
        description,
        qty: '1',
        rate: fromMinor(sum, invoice.currency),
        discount: '0',
        ...ownTax(tax, invoice),
      }),
    ),
  ];
}

/**
 * Returns the tax of a credited line: its own, else that of the line that it names, else the only one of the invoice.
 */
function taxOfCredit(invoice: Credited, line: LineItem, index: number): Pick<LineExtras, 'tax_rate' | 'tax_category'> {
  const count = invoice.line_items?.length ?? 0;
  if (line.line !== undefined && line.line > count) {
    throw fieldProblem('line_items', 'line_not_on_invoice', { line: `line_items[${index}]`, limit: count });
  }
  if (line.tax_rate !== undefined || line.tax_category !== undefined) return {};
  const named = namedLine(invoice, line);
  if (named) return ownTax(taxOfLine(named, invoice), invoice);
  const [only, other] = taxesOf(invoice);
  if (only && !other) return ownTax(only, invoice);
  const number = printedNumber('invoice', invoice);
  throw fieldProblem('line_items', 'line_rate_ambiguous', { line: `line_items[${index}]`, number });
}

/** Returns the amount that credit notes take off a line of the invoice. @param index of the invoice's line, from 1. */
export function creditedOfLine(invoice: Credited, credits: readonly LineItem[], index: number): number {
  const named = invoice.line_items?.[index - 1];
  if (!named) return 0;
  const [pieces, others] = partition(
    credits.filter(({ line }) => line === index),
    (line) => isPiece(invoice, line),
  );
  const qty = pieces.reduce((sum, line) => sum.plus(line.qty), new Big(0));
  return lineNet({ ...named, qty: qty.toFixed() }, invoice.currency) + sumOfLines(others, invoice.currency);
}

function namedLine({ line_items }: Credited, { line }: LineItem): LineItem | undefined {
  return line === undefined ? undefined : line_items?.[line - 1];
}

/** True for a line that credits a quantity at the price of the line that it names. */
function isPiece(invoice: Credited, line: LineItem): boolean {
  const named = namedLine(invoice, line);
  return named !== undefined && named.rate === line.rate && named.discount === line.discount;
}

function add(quantities: Map<number, Big>, { line = 0, qty }: LineItem): { from: Big; to: Big } {
  const from = quantities.get(line) ?? new Big(0);
  const to = from.plus(qty);
  quantities.set(line, to);
  return { from, to };
}

/**
 * Returns the difference of rounding. Pieces are rounded one by one and may sum to more or less than their line, so the
 * total follows the quantity that is credited by now.
 */
function roundingOf(
  invoice: Credited,
  before: Map<number, Big>,
  { line, charged }: { line: LineItem; charged: ChargedLines | undefined },
): { tax: LineTax; by: number } {
  const named = namedLine(invoice, line) as LineItem;
  const { from, to } = add(before, line);
  const isWithin = new Big(named.qty).lt(0) ? to.gte(named.qty) : to.lte(named.qty);
  if (!isWithin) {
    const left = plainDecimal(new Big(named.qty).minus(from).toFixed());
    throw appError('credit_exceeds_line', { line: line.line ?? 0, number: printedNumber('invoice', invoice), left });
  }
  const worth = (qty: Big) => worthOf(named, qty, { ...invoice, charged: charged?.get(line.line ?? 0) });
  return { tax: taxOfLine(line, invoice), by: worth(to) - worth(from) - lineNet(line, invoice.currency) };
}

/** Returns the worth of a quantity of a line. The charged quantity is worth the charged amount, whatever its rounding. */
function worthOf(
  named: LineItem,
  qty: Big,
  { currency, charged }: { currency: string; charged: PricedHours | undefined },
): number {
  const net = lineNet({ ...named, qty: qty.toFixed() }, currency);
  if (!charged || qty.gt(charged.qty)) return net;
  return qty.eq(charged.qty) ? charged.worth : Math.min(net, charged.worth);
}
