// Documents of any money: prices with and without tax, one to four rates, currencies of 0, 2 and 3 decimals, discounts, lines below zero.
import fc from 'fast-check';
import { invoiceMoney } from '#libs/rules/documents/document-money.ts';
import { type LineItem, lineItem } from '#libs/rules/documents/line-item.ts';

/** The input of an invoice or a quote. */
export interface RandomDocument {
  currency: string;
  tax_rate: number;
  prices_include_tax: boolean;
  line_items: LineItem[];
}

const RATES = [19, 7, 0, 20, 5.5, 2.6, 100];
const MILLION = 1_000_000;

const quantity = fc.oneof(
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 9 }).map(String) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 40 * MILLION }).map((millionths) => String(millionths / MILLION)) },
);

const line = fc.record({
  qty: quantity,
  rate: fc.integer({ min: 1, max: 99_999 }).map((cents) => String(cents / 100)),
  discount: fc.constantFrom('0', '0', '12.5', '33.333'),
  tax_rate: fc.option(fc.constantFrom(...RATES), { nil: undefined }),
  isCredit: fc.integer({ min: 0, max: 9 }).map((tenth) => tenth === 0),
});

/** Documents that Billhook accepts and that are worth something. */
export const randomDocument: fc.Arbitrary<RandomDocument> = fc
  .record({
    currency: fc.constantFrom('EUR', 'JPY', 'KWD'),
    tax_rate: fc.constantFrom(...RATES),
    prices_include_tax: fc.boolean(),
    lines: fc.array(line, { minLength: 1, maxLength: 6 }),
  })
  .map(({ lines, ...terms }) => ({
    ...terms,
    line_items: lines.map(({ isCredit, qty, ...one }, index) =>
      lineItem({ ...one, qty: isCredit ? `-${qty}` : qty, description: `Line ${index + 1}` }),
    ),
  }))
  .filter(isAccepted);

function isAccepted(given: RandomDocument): boolean {
  try {
    return invoiceMoney({ ...given, issuer: { locale: 'en-US' } }).amount > 0;
  } catch {
    return false;
  }
}

/** How a next credit is chosen: fractions of what there is. */
export interface CreditStep {
  kind: 'line' | 'piece' | 'amount' | 'price';
  which: number;
  share: number;
}

export const creditSteps: fc.Arbitrary<CreditStep[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('line', 'piece', 'amount', 'price'),
    which: fc.nat(99),
    share: fc.integer({ min: 1, max: 999 }).map((thousandths) => thousandths / 1000),
  }),
  { maxLength: 12 },
);

/** Quantities of lines that were not credited yet. */
export class LinesLeft {
  readonly #lines: readonly LineItem[];
  readonly #left: number[];

  constructor(lines: readonly LineItem[]) {
    this.#lines = lines;
    this.#left = lines.map(({ qty }) => Number(qty));
  }

  /** Lines with something left, by their number from 1. */
  get open(): number[] {
    return this.#left.flatMap((left, index) => (left === 0 ? [] : [index + 1]));
  }

  /** A credit line over a share of what is left of a line, and what to call once it was accepted. */
  take(number: number, share: number): { line: LineItem; done: () => void } {
    const index = number - 1;
    const left = this.#left[index] ?? 0;
    const qty = share === 1 ? left : Math.round(left * share * MILLION) / MILLION;
    const { description, rate, discount } = this.#lines[index] as LineItem;
    const line = lineItem({ description, rate, discount, qty, line: number });
    return { line, done: () => (this.#left[index] = Math.round((left - qty) * MILLION) / MILLION) };
  }
}
