// Discount and shipping of a whole document: spread over its tax groups exactly, and credited piece by piece to exactly nothing.
import { describe, expect, test } from '@jest/globals';
import { sumBy } from 'es-toolkit/math/sumBy';
import fc from 'fast-check';
import { creditGroups, leftToCredit, netOf, type Taxed, taxSumOf } from '#libs/rules/credits/credit-amounts.ts';
import { type CreditedCharges, creditedCharges } from '#libs/rules/credits/credited-charges.ts';
import { changedCharges, type GivenCharges, givenCharges } from '#libs/rules/documents/document-charges.ts';
import { invoiceMoney, quoteMoney } from '#libs/rules/documents/document-money.ts';
import { type LineItem, lineItem } from '#libs/rules/documents/line-item.ts';
import { fromMinor, sumOfLines } from '#libs/rules/money/money.ts';
import { taxesOf } from '#libs/rules/taxes/document-taxes.ts';
import { runs } from '../../support/form.ts';

const issuer = { locale: 'en' };
const line = (qty: number, rate: number, tax_rate?: number) =>
  lineItem({ description: 'x', qty, rate, discount: 0, tax_rate });
const terms = { currency: 'EUR', tax_rate: 20, tax_category: undefined, issuer };
const mixed = [line(1, 1_000), line(1, 500, 5)];
const money = (
  line_items: LineItem[] | null,
  charges: GivenCharges,
  own: { prices_include_tax?: boolean; amount?: number } = {},
) => invoiceMoney({ ...terms, ...own, line_items, charges });
const detailsOf = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return (error as { details: object }).details;
  }
  return undefined;
};

describe('a discount', () => {
  test('when lines have several rates, then it is spread over them in proportion, and the amount is what is left', () => {
    const { amount, subtotal, taxes, tax_amount } = money(mixed, { discount_amount: 150 });
    expect([amount, subtotal, tax_amount]).toEqual([135_000, 150_000, 20_250]);
    expect(taxes).toMatchObject([
      { rate: 20, taxable: 90_000, tax: 18_000 },
      { rate: 5, taxable: 45_000, tax: 2_250 },
    ]);
  });

  test('when it is a percentage, then it is that of the sum of the lines', () => {
    const half = money([line(1, 0.01), line(1, 0.02, 5)], { discount_percent: '50' });
    expect(half).toMatchObject({ discount_amount: 2, discount_percent: 50, amount: 1 });
    expect(money(mixed, { discount_percent: 100 })).toMatchObject({ amount: 0, tax_amount: 0, subtotal: 150_000 });
  });

  test('when prices include tax, then it does, too, and the total is the sum of the lines less the discount', () => {
    const { amount, tax_amount, subtotal } = money(
      [line(1, 119)],
      { discount_amount: '11.90' },
      { prices_include_tax: true },
    );
    expect([amount + tax_amount, subtotal]).toEqual([10_710, 9_917]);
  });

  test.each([
    [
      mixed,
      { discount_amount: 1_500.01 },
      { discount_amount: ['discount_amount must not be more than the sum of line_items'] },
    ],
    [null, { discount_amount: 1 }, { discount_amount: ['discount_amount needs line_items'] }],
    [null, { discount_percent: 1 }, { discount_percent: ['discount_percent needs line_items'] }],
    [null, { shipping_amount: 1 }, { shipping_amount: ['shipping_amount needs line_items'] }],
    [
      mixed,
      { discount_amount: 1, discount_percent: 10 },
      { discount_amount: ['discount_amount must be left out beside discount_percent, or be what it gives, 150'] },
    ],
    [mixed, { shipping_tax_rate: 7 }, { shipping_tax_rate: ['shipping_tax_rate needs shipping_amount'] }],
    [
      mixed,
      { shipping_amount: 1, shipping_tax_rate: 7, shipping_tax_category: 'E' as const },
      { shipping_tax_rate: ['shipping_tax_rate must be 0 in tax_category E'] },
    ],
  ])('when lines %j have %j, then 400 says %j', (lines, charges, details) => {
    expect(detailsOf(() => money(lines, charges, { amount: 10 }))).toEqual(details);
  });

  test('when a document is worth nothing, then a percentage of it stays, and an amount needs lines as ever', () => {
    expect(money(null, { discount_percent: 10 })).toMatchObject({ amount: 0, discount_percent: 10 });
    expect(detailsOf(() => money(null, { discount_amount: 1 }))).toEqual({
      discount_amount: ['discount_amount needs line_items'],
    });
  });

  test('when the percentage and the amount of a read record are sent back together, then nothing changes', () => {
    const before = money(mixed, { discount_percent: 10 });
    const { discount_amount = 0, discount_percent } = before;
    const again = money(mixed, { discount_amount: fromMinor(discount_amount, 'EUR'), discount_percent });
    expect(again).toEqual(before);
  });
});

test('when shipping has a rate of its own, then it is a group of its own; otherwise it has that of the document', () => {
  expect(money([line(1, 100)], { shipping_amount: 10, shipping_tax_rate: 7 }).taxes).toMatchObject([
    { rate: 20, taxable: 10_000 },
    { rate: 7, taxable: 1_000, tax: 70 },
  ]);
  expect(money([line(1, 100)], { shipping_amount: 10 })).toMatchObject({
    amount: 11_000,
    tax_amount: 2_200,
    taxes: undefined,
  });
  // The discount is that of the lines.
  expect(
    money([line(1, 100)], { shipping_amount: 10, shipping_tax_rate: 7, discount_percent: 50 }).taxes,
  ).toMatchObject([
    { rate: 20, taxable: 5_000 },
    { rate: 7, taxable: 1_000 },
  ]);
});

test('when a quote has a discount, then its amount is the sum of its lines or what is left of it, and no other', () => {
  const quote = (amount: number) =>
    quoteMoney({ ...terms, line_items: mixed, amount, charges: { discount_amount: 150, shipping_amount: 10 } });
  expect([quote(1_500).amount, quote(1_360).amount]).toEqual([136_000, 136_000]);
  expect(detailsOf(() => quote(1_400))).toEqual([
    'amount must be the sum of line_items, 1500, or 1360, that after discount and shipping',
  ]);
});

describe('a change', () => {
  const stored = money(mixed, { discount_percent: 10, shipping_amount: 5, shipping_tax_rate: 7 });
  const kept = { shipping_amount: 5, shipping_tax_rate: 7, shipping_tax_category: undefined };
  test.each([
    [{}, { discount_percent: 10, ...kept }],
    [{ discount_amount: 20 }, { discount_amount: 20, ...kept }],
    [{ discount_percent: 5 }, { discount_percent: 5, ...kept }],
    [{ discount_amount: null }, { discount_amount: null, ...kept }],
    [{ discount_percent: null }, { discount_percent: null, ...kept }],
    [{ shipping_amount: 6 }, { discount_percent: 10, ...kept, shipping_amount: 6 }],
    [
      { shipping_amount: null },
      { discount_percent: 10, shipping_amount: null, shipping_tax_rate: null, shipping_tax_category: null },
    ],
  ])('when %j changes a document with a percentage and shipping, then it has %j', (changes, wanted) => {
    expect(changedCharges(stored, changes)).toEqual(wanted);
  });

  test('when a percentage of null comes beside an amount that stays, then the amount stays', () => {
    const fixed = money(mixed, { discount_amount: 20 });
    expect(changedCharges(fixed, { discount_percent: null })).toMatchObject({ discount_amount: 20 });
  });
});

const currency = fc.constantFrom('EUR', 'JPY', 'KWD', 'MRU');
const rates = fc.constantFrom(undefined, 0, 2.6, 5, 7, 33.333);
const anyLine = fc
  .record({ cents: fc.integer({ min: -2_000, max: 99_999 }), qty: fc.integer({ min: 1, max: 9 }), rate: rates })
  .map(({ cents, qty, rate }) => line(qty, cents / 100, rate));
const document = fc.record({
  currency,
  tax_rate: fc.constantFrom(0, 8.1, 19, 20),
  prices_include_tax: fc.boolean(),
  line_items: fc.array(anyLine, { minLength: 1, maxLength: 12 }),
  percent: fc.constantFrom(undefined, 0.1, 10, 33.33, 100),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  shipping: fc.integer({ min: 0, max: 5_000 }),
  shipping_tax_rate: rates,
});

/** Undefined where these lines make no document, or no discount of them can be. */
function documentOf({
  percent,
  share,
  shipping,
  shipping_tax_rate,
  ...given
}: typeof document extends fc.Arbitrary<infer D> ? D : never) {
  const sum = sumOfLines(given.line_items, given.currency);
  const discount_amount = fromMinor(Math.floor(Math.max(0, sum) * share), given.currency);
  const charges = {
    ...(percent === undefined ? { discount_amount } : { discount_percent: percent }),
    shipping_amount: shipping / 100,
    ...(shipping > 0 ? { shipping_tax_rate } : {}),
  };
  try {
    return { sum, ...invoiceMoney({ ...given, tax_category: undefined, charges, issuer }) };
  } catch {
    return undefined;
  }
}

const total = (taxes: readonly { taxable: number; tax: number }[]) =>
  taxes.reduce((sum, { taxable, tax }) => sum + taxable + tax, 0);

test('when any document has a discount and shipping, then its groups sum to it, and lead from the lines to the total', () => {
  let count = 0;
  const each = fc.property(document, (given) => {
    const made = documentOf(given);
    fc.pre(made !== undefined);
    count += 1;
    const { sum, amount, tax_amount, discount_amount = 0, shipping_amount = 0, prices_include_tax } = made;
    const taxes = taxesOf(made);
    expect(netOf(taxes)).toBe(amount);
    expect(taxSumOf(taxes)).toBe(tax_amount);
    expect(prices_include_tax ? amount + tax_amount : amount).toBe(sum - discount_amount + shipping_amount);
    // The stored charges are the same when they are computed anew.
    const again = invoiceMoney({ ...given, tax_category: undefined, charges: givenCharges(made), issuer });
    expect({ ...again, sum }).toEqual(made);
  });
  const form = runs(300);
  fc.assert(each, form);
  expect(count).toBe(form.numRuns);
});

test('when all lines and the shipping of any document are credited one by one, in any order, then nothing is left of it', () => {
  const each = fc.property(document, fc.infiniteStream(fc.nat()), (given, order) => {
    // Credits of less than nothing are none.
    const line_items = given.line_items.filter(({ rate }) => !rate.startsWith('-') && rate !== '0');
    fc.pre(line_items.length > 0 && (given.percent ?? 0) < 100);
    const made = documentOf({ ...given, line_items });
    fc.pre(made !== undefined);
    const notes: (Taxed & CreditedCharges)[] = [];
    const source = { terms: made, number: 'INV-1' };
    let isRejected = false;
    const credit = (line_items: LineItem[] | null, shipping = 0) => {
      const { lines, ...charges } = creditedCharges(made, notes, { line_items, shipping, number: 'INV-1' });
      // A cent whose share of the discount is a cent is no credit.
      if (sumOfLines(lines, made.currency) === 0) isRejected = true;
      else
        note(
          creditGroups(leftToCredit(made, notes), { line_items: lines }, { ...source, isFirst: notes.length === 0 }),
          charges,
        );
    };
    const note = (taxes: ReturnType<typeof creditGroups>, charges: CreditedCharges) =>
      notes.push({
        ...terms,
        currency: made.currency,
        amount: netOf(taxes),
        tax_amount: taxSumOf(taxes),
        taxes,
        ...charges,
      });
    const left = [...line_items];
    while (left.length > 0) credit(left.splice((order.next().value as number) % left.length, 1));
    if (made.shipping_amount) credit(null, made.shipping_amount);
    const rest = leftToCredit(made, notes);
    if (isRejected && netOf(rest) > 0) note(creditGroups(rest, {}, { ...source, isFirst: notes.length === 0 }), {});
    expect(total(leftToCredit(made, notes))).toBe(0);
    const discounts = notes.flatMap(({ discounts: shares = [] }) => shares);
    if (!isRejected) expect(sumBy(discounts, ({ amount }) => amount)).toBe(made.discount_amount ?? 0);
  });
  fc.assert(each, runs(200));
});
