// Credits of named time entries end at exactly nothing: in any order, on lines of any rounding, beside prepaid and included hours.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { creditLines } from '#libs/billing/credit-notes/credit-lines.ts';
import { packageState } from '#libs/billing/hour-packages/draw-hours.ts';
import { includedSeconds, lessPaidHours } from '#libs/billing/hour-packages/included-hours.ts';
import type { SelectedTime } from '#libs/billing/work/select-time.ts';
import { linkTimeLines } from '#libs/billing/work/time-line-links.ts';
import { newId } from '#libs/models/tenant.ts';
import { creditGroups, leftToCredit, netOf, taxSumOf } from '#libs/rules/credits/credit-amounts.ts';
import { type CreditedCharges, creditedCharges } from '#libs/rules/credits/credited-charges.ts';
import { invoiceMoney } from '#libs/rules/documents/document-money.ts';
import { type LineItem, lineItem } from '#libs/rules/documents/line-item.ts';
import { lineNet } from '#libs/rules/money/money.ts';
import type { DocumentTax } from '#libs/rules/taxes/document-taxes.ts';
import { chargedHours } from '#libs/rules/time/charged-hours.ts';
import { TIME_GROUPS, type TimeToBill } from '#libs/rules/time/time-lines.ts';
import { ROUNDING_MINUTES, ROUNDING_SCOPES } from '#libs/rules/time/time-rounding.ts';
import { runs } from '../../support/form.ts';
import { hourPackage, rateOf, timeToBill } from '../../support/time-to-bill.ts';

const PROJECTS = [newId(), newId()] as const;
const DAYS = ['2026-11-02', '2026-11-03', '2026-12-01'] as const;

const anyEntry = fc.record({
  project: fc.constantFrom(...PROJECTS),
  date: fc.constantFrom(...DAYS),
  seconds: fc.integer({ min: 1, max: 20_000 }),
  rate: fc.constantFrom(0, 50, 33.33, 99.995),
  isRated: fc.boolean(),
});
const anyRounding = fc.option(
  fc.record({
    minutes: fc.constantFrom(...ROUNDING_MINUTES),
    mode: fc.constantFrom('up' as const, 'nearest' as const, 'down' as const),
    scope: fc.constantFrom(...ROUNDING_SCOPES),
    minimum: fc.constantFrom(0, 30),
  }),
);
const anyPackage = fc.record({
  project: fc.option(fc.constantFrom(...PROJECTS)),
  seconds: fc.integer({ min: 0, max: 30_000 }),
  until: fc.option(fc.constantFrom(...DAYS)),
});
const anyInvoice = fc.record({
  currency: fc.constantFrom('EUR', 'JPY', 'KWD'),
  tax_rate: fc.constantFrom(0, 8.1, 19),
  prices_include_tax: fc.boolean(),
  discount_percent: fc.constantFrom(0, 0, 12.5),
  groupBy: fc.constantFrom(...TIME_GROUPS),
  entries: fc.array(anyEntry, { minLength: 1, maxLength: 10 }),
  rounding: anyRounding,
  packages: fc.array(anyPackage, { maxLength: 3 }),
  included: fc.option(fc.integer({ min: 0, max: 800 }).map((count) => String(count / 100))),
  /** The number of the credit note that each entry is on. */
  notes: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 10, maxLength: 10 }),
});

/** The fee of an invoice that includes hours. */
const FEE = lineItem({ description: 'Fee', qty: '1', rate: '1000', discount: '0' });

type AnyInvoice = typeof anyInvoice extends fc.Arbitrary<infer Value> ? Value : never;

function entriesOf({ entries, rounding }: AnyInvoice): TimeToBill[] {
  return entries.map(({ project, rate, isRated, ...time }) =>
    timeToBill(project, { ...time, ...rateOf(rate, isRated), rounding }),
  );
}

const packagesOf = ({ packages }: AnyInvoice) =>
  packages.map(({ project, seconds, until }) => hourPackage(project, { seconds, valid_until: until }));

/** The invoice of the entries, and a credit note for each group of them. */
function credited(given: AnyInvoice) {
  const [entries, packages] = [entriesOf(given), packagesOf(given)];
  const hours = given.included ?? undefined;
  const made = linkTimeLines(
    entries.map((toBill) => ({ toBill }) as SelectedTime),
    { groupBy: given.groupBy, locale: 'en-US' },
    { line_items: hours === undefined ? null : [FEE] },
  );
  const lines = lessPaidHours(made, { hours, packages, others: [] }, { currency: given.currency, locale: 'en-US' });
  const terms = { currency: given.currency, tax_rate: given.tax_rate, prices_include_tax: given.prices_include_tax };
  const charges = { discount_percent: given.discount_percent };
  const money = invoiceMoney({ ...terms, line_items: lines.line_items, charges, issuer: { locale: 'en-US' } });
  const invoice = { ...money, number: 42, number_text: 'INV-0042' };
  const charged = chargedHours(lines.made, {
    included: includedSeconds(hours),
    draws: lines.draws,
    packages: packages.map(packageState),
    currency: given.currency,
  });
  const places = new Map(lines.time.lines.map(({ id, at }) => [id, at]));
  const byPlace = new Map([...charged.lines].map(([id, line]) => [(places.get(id) ?? 0) + 1, line]));

  const notes: (CreditedCharges & { taxes: DocumentTax[]; line_items: LineItem[] })[] = [];
  for (const note of [0, 1, 2, 3, 4]) {
    const named = entries.filter((_entry, index) => given.notes[index] === note);
    if (named.length === 0) continue;
    const wanted = lines.made.flatMap(({ id, entries: of }) => {
      const own = of.filter((entry) => named.some((one) => one.id === entry.id));
      const at = places.get(id) ?? 0;
      const [first, ...others] = own.map((entry) => charged.entries.get(entry.id)?.qty);
      const qty = others.reduce((sum, one) => sum?.plus(one ?? 0), first);
      return qty ? [lineItem({ ...(lines.line_items[at] as LineItem), qty: qty.toFixed(), line: at + 1 })] : [];
    });
    const earlier = notes.flatMap((one) => one.line_items);
    const line_items = creditLines(invoice, earlier, { lines: wanted, locale: 'en-US', charged: byPlace });
    const shares = creditedCharges(invoice, notes, { line_items, number: 'INV-0042' });
    const before = notes.map((one) => ({ ...terms, ...sums(one.taxes) }));
    const source = { terms: invoice, number: 'INV-0042', isFirst: notes.length === 0 };
    const taxes = creditGroups(leftToCredit(money, before), { line_items: shares.lines, mayBeNothing: true }, source);
    notes.push({ taxes, line_items, discounts: shares.discounts });
  }
  return {
    charged,
    lines,
    terms,
    left: leftToCredit(
      money,
      notes.map(({ taxes }) => ({ ...terms, ...sums(taxes) })),
    ),
  };
}

const sums = (taxes: DocumentTax[]) => ({ amount: netOf(taxes), tax_amount: taxSumOf(taxes), taxes });

test('when the entries of an invoice are credited in any groups and order, then nothing is left of it', () => {
  const property = fc.property(
    anyInvoice.filter((given) => given.included === null),
    (given) => {
      const { left } = credited(given);
      for (const { taxable, tax } of left) expect([taxable, tax]).toEqual([0, 0]);
    },
  );
  fc.assert(property, runs(600));
});

test('when a fee included some of the hours, then exactly the fee is left', () => {
  const property = fc.property(
    anyInvoice.filter((given) => given.included !== null),
    (given) => {
      const { left, terms } = credited(given);
      const fee = lineNet(FEE, terms.currency);
      const rest = left.reduce((sum, one) => sum + one.taxable + (terms.prices_include_tax ? one.tax : 0), 0);
      // The discount is a whole amount of the invoice, and of each credit note.
      expect(Math.abs(rest - fee * (1 - given.discount_percent / 100))).toBeLessThanOrEqual(
        given.discount_percent === 0 ? 0 : 1,
      );
    },
  );
  fc.assert(property, runs(400));
});

test('when prepaid hours covered some of the work, then its entries give back exactly the hours that were drawn', () => {
  const property = fc.property(anyInvoice, (given) => {
    const { charged, lines } = credited(given);
    const back = [...charged.entries.values()].flatMap(({ draws }) => draws);
    const bySource = (draws: readonly { package_id: string; line: number; seconds: number }[]) =>
      [...Map.groupBy(draws, ({ package_id, line }) => `${line} ${package_id}`)]
        .map(([key, same]) => [key, same.reduce((sum, { seconds }) => sum + seconds, 0)] as const)
        .toSorted(([one], [other]) => (one < other ? -1 : 1));
    expect(bySource(back)).toEqual(bySource(lines.draws));
    for (const { id, qty, entries } of lines.made) {
      const sum = entries.reduce((of, entry) => of + Number(charged.entries.get(entry.id)?.qty), 0);
      expect(sum).toBeCloseTo(Number(charged.lines.get(id)?.qty), 8);
      expect(sum).toBeLessThanOrEqual(Number(qty) + 1e-9);
    }
  });
  fc.assert(property, runs(300));
});
