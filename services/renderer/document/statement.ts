// The statement of account of a client: a table of movements for each currency, between its balances.
import Big from 'big.js';
import type {
  PrintableCurrencyStatement,
  PrintableMovement,
  PrintableStatement,
} from '#libs/jobs/printable-document.ts';
import type { DocumentLocale, Money } from './document-locale.ts';
import type { Fact, TotalRow } from './summary.ts';
import { printable } from './texts.ts';

export interface StatementView {
  /** False when no movement has a text. */
  hasTexts: boolean;
  columns: number;
  currencies: CurrencyView[];
}

interface CurrencyView {
  /** The currency, where there are several. */
  heading: string | undefined;
  opening: BalanceRow;
  rows: MovementView[];
  closing: BalanceRow;
  /** The parts of the last balance. Empty when nothing is due. */
  ageing: TotalRow[];
  totalLabel: string;
  /** The explanation of a balance below zero. */
  note: string | undefined;
}

interface BalanceRow {
  day: string;
  label: string;
  /** The sums of the rows, on the last balance. */
  debit: Money | undefined;
  credit: Money | undefined;
  balance: Money;
}

interface MovementView {
  day: string;
  kind: string;
  number: string;
  text: string | undefined;
  /** One of the two is undefined, and both are where the balance did not change. */
  debit: Money | undefined;
  credit: Money | undefined;
  balance: Money;
  /** True for a row so high that it may break over pages. */
  isTall: boolean;
}

/** The letters of a text from which a row counts as tall: a quarter of a page. */
const TALL_LETTERS = 350;
/** The most currencies whose balances are named at the top. */
const CURRENCIES_NAMED = 6;

/** Returns the view, or undefined without a statement. */
export function statementView(
  given: PrintableStatement | undefined,
  hyphenated: (text: string) => string,
  locale: DocumentLocale,
): StatementView | undefined {
  if (!given) return undefined;
  const { statements } = given;
  const hasTexts = statements.some(({ rows }) => rows.some(({ text }) => printable(text) !== undefined));
  return {
    hasTexts,
    columns: hasTexts ? 6 : 5,
    currencies: statements.map((one) => ({
      heading: statements.length > 1 ? one.currency : undefined,
      ...currencyView(one, given, { hyphenated, locale }),
    })),
  };
}

function currencyView(
  { currency, opening, debits, credits, closing, due, ageing, credit, rows }: PrintableCurrencyStatement,
  { from, to }: Pick<PrintableStatement, 'from' | 'to'>,
  { hyphenated, locale }: { hyphenated: (text: string) => string; locale: DocumentLocale },
): Omit<CurrencyView, 'heading'> {
  const { labels, shortDay, moneyIn } = locale;
  const { statement: words } = labels;
  const written = moneyIn(currency);
  const money = (amount: number) => written(new Big(amount));
  const movement = ({ date, kind, number, text, amount, balance }: PrintableMovement): MovementView => {
    const shown = printable(text);
    return {
      day: shortDay(date),
      kind: words.kinds[kind],
      number,
      text: shown && hyphenated(shown),
      debit: amount > 0 ? money(amount) : undefined,
      credit: amount < 0 ? money(-amount) : undefined,
      balance: money(balance),
      isTall: Math.max(number.length, text?.length ?? 0) > TALL_LETTERS,
    };
  };
  const ages = Object.entries(ageing) as [keyof typeof ageing, number][];
  return {
    opening: {
      day: shortDay(from),
      label: words.opening,
      debit: undefined,
      credit: undefined,
      balance: money(opening),
    },
    rows: rows.map(movement),
    closing: {
      day: shortDay(to),
      label: words.closing,
      debit: money(debits),
      credit: money(credits),
      balance: money(closing),
    },
    ageing:
      due > 0
        ? [
            ...ages.map(([age, amount]) => ({ label: words.ageing[age], amount: money(amount) })),
            ...(credit > 0 ? [{ label: words.unused, amount: money(-credit) }] : []),
          ]
        : [],
    totalLabel: closing < 0 ? words.balance : labels.amountDue,
    note: closing < 0 ? words.inFavour : undefined,
  };
}

/** Returns the last balance and its day. Undefined where there are several currencies, or none. */
export function statementHeadline({ to, statements }: PrintableStatement, { labels, day, moneyIn }: DocumentLocale) {
  const [only, ...others] = statements;
  if (!only || others.length > 0) return undefined;
  return { sum: moneyIn(only.currency)(new Big(only.closing)), phrase: labels.statement.onDay(day(to)) };
}

/** Returns the facts beside the parties: what leads to the last balance, or the last balance of each of several currencies. */
export function statementFacts({ statements }: PrintableStatement, { labels, moneyIn }: DocumentLocale): Fact[] {
  const { statement: words } = labels;
  const fact = (label: string, currency: string, amount: number): Fact => {
    return { label, value: '', amount: moneyIn(currency)(new Big(amount)) };
  };
  const [first, ...others] = statements;
  if (!first) return [];
  if (others.length > 0)
    return statements
      .slice(0, CURRENCIES_NAMED)
      .map(({ currency, closing }) => fact(`${words.balance} ${currency}`, currency, closing));
  const { currency, opening, debits, credits } = first;
  return [
    fact(words.opening, currency, opening),
    fact(words.debit, currency, debits),
    fact(words.credit, currency, credits),
  ];
}
