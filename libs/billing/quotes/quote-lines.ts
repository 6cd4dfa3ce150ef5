// The lines of an invoice of a quote: all that was agreed, a part of it, or the rest that earlier parts leave.
import { dayIn } from '../../day.ts';
import { appError, fieldProblem } from '../../errors.ts';
import type { AccountRecord } from '../../models/accounts/account.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import type { QuoteRecord } from '../../models/billing/quote.ts';
import { billedSum, billedTaxes, type QuoteInvoice } from '../../models/billing/quote-invoices.ts';
import { hasCharges } from '../../rules/documents/document-charges.ts';
import { type LineItem, lineItem } from '../../rules/documents/line-item.ts';
import { cutToLine } from '../../rules/documents/line-wording.ts';
import { writtenAmount } from '../../rules/money/balance.ts';
import { exactMinor } from '../../rules/money/exact-amount.ts';
import { percentOf } from '../../rules/money/money.ts';
import {
  agreedSum,
  type BilledPart,
  deductions,
  groupsLeft,
  leftToBill,
  partLines,
  type QuotePart,
  quotedLines,
} from '../../rules/quotes/quote-parts.ts';
import { quotedCharges } from '../../rules/quotes/quoted-charges.ts';
import { taxesOf } from '../../rules/taxes/document-taxes.ts';

/** The part of a quote that an invoice bills. */
export interface WantedPart {
  part: QuotePart;
  /** The size of a deposit or progress invoice, as a percentage or as an amount in major units, see agreedSum. */
  percent?: number | undefined;
  amount?: number | undefined;
}

/** Returns the lines. @throws AppError 409 when nothing, or less, is left to bill, 400 for a part of 0. */
export function convertedLines(
  quote: QuoteRecord,
  parts: readonly QuoteInvoice[],
  { wanted, account }: { wanted: WantedPart; account: AccountRecord },
): LineItem[] {
  const { part, percent } = wanted;
  const quoted = agreedSum(quote);
  const billed = parts.map((one) => billedPart(one, account));
  const left = leftToBill(quoted, billed);
  const claimed = parts.find(({ quote_part }) => quote_part === 'full' || quote_part === 'final');
  const isWhole = part === 'full' || part === 'final';
  if (claimed && (isWhole || left === 0)) {
    throw appError('quote_already_invoiced', { number: printedNumber('invoice', claimed) });
  }
  if (!isWhole) {
    const amount = amountOfPart(quote, wanted);
    if (amount > left) throw onlyLeft(quote, left);
    const taxes = groupsLeft({ ...quote, taxes: taxesOf(quote) }, billed);
    const quoteNumber = printedNumber('quote', quote);
    return partLines(part, { amount, percent, quoteNumber, taxes }, textsOf(quote, account)).map(lineItem);
  }
  if (part === 'final') return finalLines(quote, parts, account);
  if (left < quoted) throw onlyLeft(quote, left);
  return wholeLines(quote, account, false);
}

/**
 * Returns the lines of a final invoice.
 * @throws AppError 409 when an earlier part is still a draft, or nothing is left.
 */
export function finalLines(quote: QuoteRecord, parts: readonly QuoteInvoice[], account: AccountRecord): LineItem[] {
  const draft = parts.find(({ status }) => status === 'Draft');
  if (draft) {
    throw appError('quote_part_is_draft', { number: printedNumber('invoice', draft) });
  }
  const quoted = agreedSum(quote);
  const billed = parts.map((one) => billedPart(one, account));
  const left = leftToBill(quoted, billed);
  if (left === 0 && quoted > 0) throw onlyLeft(quote, left);
  return [...wholeLines(quote, account, true), ...deductions(billed, textsOf(quote, account)).map(lineItem)];
}

/**
 * Returns the lines of the whole quote. An invoice in full copies the discount and the shipping as such; on a final one
 * they are lines.
 */
function wholeLines(quote: QuoteRecord, account: AccountRecord, isFinal: boolean): LineItem[] {
  const { line_items } = quote;
  if (line_items && !isFinal && hasCharges(quote)) return line_items;
  const texts = textsOf(quote, account);
  const whole = quotedLines(
    {
      amount: agreedSum(quote),
      line_items: line_items && (isFinal ? [...line_items, ...quotedCharges(quote, texts)] : line_items),
      taxes: taxesOf(quote),
      whenEmpty: quote.description ?? printedNumber('quote', quote),
    },
    texts,
  );
  return whole.map((line) => lineItem({ ...line, description: cutToLine(line.description) }));
}

function textsOf({ currency, tax_rate, tax_category, prices_include_tax }: QuoteRecord, { locale }: AccountRecord) {
  return { locale, currency, tax_rate, tax_category, prices_include_tax };
}

function billedPart(one: QuoteInvoice, { time_zone }: AccountRecord): BilledPart {
  return {
    number: printedNumber('invoice', one),
    day: one.issue_date ?? dayIn(time_zone, one.created_at),
    amount: billedSum(one),
    taxes: billedTaxes(one),
  };
}

/** Returns the amount of a part. @throws AppError 400 when it is 0. */
function amountOfPart(quote: QuoteRecord, { percent, amount }: WantedPart): number {
  const { currency } = quote;
  const part = percent === undefined ? exactMinor(amount ?? 0, currency, 'list') : percentOf(agreedSum(quote), percent);
  if (part > 0) return part;
  const field = percent === undefined ? 'amount' : 'percent';
  throw fieldProblem(field, 'below_smallest_unit', { currency }, 'list');
}

function onlyLeft(quote: QuoteRecord, left: number) {
  return appError('quote_amount_exceeded', {
    left: writtenAmount(left, quote.currency),
    number: printedNumber('quote', quote),
  });
}
