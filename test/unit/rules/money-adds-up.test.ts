// Money adds up in every direction: credits of an invoice and parts of a quote end at exactly nothing, at each rate, whatever their order.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { creditLines } from '#libs/billing/credit-notes/credit-lines.ts';
import { AppError } from '#libs/errors.ts';
import { creditGroups, leftToCredit, netOf, type Taxed, taxSumOf } from '#libs/rules/credits/credit-amounts.ts';
import { invoiceMoney } from '#libs/rules/documents/document-money.ts';
import { type LineItem, lineItem } from '#libs/rules/documents/line-item.ts';
import { percentOf } from '#libs/rules/money/money.ts';
import {
  agreedSum,
  type BilledPart,
  deductions,
  groupsLeft,
  leftToBill,
  partLines,
  quotedLines,
} from '#libs/rules/quotes/quote-parts.ts';
import { type DocumentTax, taxesOf } from '#libs/rules/taxes/document-taxes.ts';
import { groupSum, taxLines } from '#libs/rules/taxes/tax-groups.ts';
import { runs } from '../../support/form.ts';
import {
  type CreditStep,
  creditSteps,
  LinesLeft,
  type RandomDocument,
  randomDocument,
} from '../../support/random-documents.ts';

type Note = Taxed & { line_items: LineItem[] | null };

const issuer = { locale: 'en-US' };

/** An invoice with the credit notes that were drawn over it. */
class Invoice {
  readonly money: ReturnType<typeof invoiceMoney>;
  readonly notes: Note[] = [];
  readonly lines: LinesLeft;

  constructor(document: RandomDocument) {
    this.money = invoiceMoney({ ...document, issuer });
    this.lines = new LinesLeft(document.line_items);
  }

  get left(): DocumentTax[] {
    return leftToCredit(this.money, this.notes);
  }

  get isOpen(): boolean {
    return this.left.some(({ taxable, tax }) => taxable !== 0 || tax !== 0);
  }

  credit(wanted: { amount?: number; lines?: LineItem[] }): void {
    const earlier = this.notes.flatMap(({ line_items }) => line_items ?? []);
    const numbered = { ...this.money, number: 42, number_text: 'INV-0042' };
    const line_items = wanted.lines ? creditLines(numbered, earlier, { lines: wanted.lines, ...issuer }) : null;
    const source = { terms: this.money, number: 'INV-0042', isFirst: this.notes.length === 0 };
    const taxes = creditGroups(this.left, { amount: wanted.amount, line_items }, source);
    this.notes.push({ ...this.money, amount: netOf(taxes), tax_amount: taxSumOf(taxes), taxes, line_items });
  }

  /** @returns whether it was accepted. */
  try({ kind, which, share }: CreditStep): boolean {
    const { open } = this.lines;
    const number = open[which % (open.length || 1)];
    try {
      if (kind === 'amount') {
        this.credit({ amount: Math.max(1, Math.floor(netOf(this.left) * share)) });
      } else if (number !== undefined) {
        const { line, done } = this.lines.take(number, kind === 'line' ? 1 : share);
        // Another price than that of the line, as for a price reduction.
        if (kind === 'price') this.credit({ lines: [{ ...line, qty: '1', rate: '0.5' }] });
        else this.credit({ lines: [line] });
        if (kind !== 'price') done();
      }
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(AppError);
      return false;
    }
  }
}

function expectWithin(invoice: Invoice): void {
  const whole = taxesOf(invoice.money);
  for (const [index, { taxable, tax }] of invoice.left.entries()) {
    const of = whole[index] as DocumentTax;
    for (const [left, all] of [
      [taxable, of.taxable],
      [tax, of.tax],
    ] as const) {
      expect(Math.abs(left)).toBeLessThanOrEqual(Math.abs(all));
      expect(left * all).toBeGreaterThanOrEqual(0);
    }
  }
  const [net, tax] = [netOf(invoice.left), taxSumOf(invoice.left)];
  expect(Math.min(net, net + tax)).toBeGreaterThanOrEqual(0);
}

describe('credits of an invoice', () => {
  test('when it is credited by lines, pieces, other prices and amounts, then the last credit takes the rest, at each rate', () => {
    const property = fc.property(randomDocument, creditSteps, (document, steps) => {
      const invoice = new Invoice(document);
      for (const step of steps) {
        invoice.try(step);
        expectWithin(invoice);
      }
      if (invoice.isOpen) invoice.credit({});
      expect(invoice.isOpen).toBe(false);
      expect(invoice.notes.reduce((sum, { amount }) => sum + amount, 0)).toBe(invoice.money.amount);
      expect(invoice.notes.reduce((sum, { tax_amount }) => sum + tax_amount, 0)).toBe(invoice.money.tax_amount);
      expect(() => invoice.credit({})).toThrow('Cannot credit more than is left of INV-0042: 0');
    });
    fc.assert(property, runs(600));
  });

  test('when each line is credited by name, whole or in pieces, in any order, then nothing is left without a last credit', () => {
    const above = randomDocument.filter(({ line_items }) => line_items.every(({ qty }) => !qty.startsWith('-')));
    const property = fc.property(above, creditSteps, (document, steps) => {
      const invoice = new Invoice(document);
      for (const step of steps) invoice.try({ ...step, kind: step.kind === 'line' ? 'line' : 'piece' });
      for (const number of invoice.lines.open.toReversed())
        invoice.try({ kind: 'line', which: invoice.lines.open.indexOf(number), share: 1 });
      expect(invoice.isOpen).toBe(false);
    });
    fc.assert(property, runs(400));
  });

  test('when only the tax of a line is left at one rate, then lines of other rates can still be credited first', () => {
    const line = (number: number, qty: string, rate: string, tax_rate?: number) =>
      lineItem({ description: `Line ${number}`, qty, rate, discount: '0', tax_rate });
    const lines = [line(1, '1.588207', '61.39', 7), line(2, '25', '0.06', 7), line(3, '0.000555', '900.91')];
    const invoice = new Invoice({
      currency: 'JPY',
      tax_rate: 19,
      prices_include_tax: true,
      line_items: lines,
    });
    const credit = (number: number, qty: string) =>
      invoice.credit({
        lines: [lineItem({ ...(lines[number - 1] as LineItem), tax_rate: undefined, qty, line: number })],
      });
    credit(2, '8.35');
    credit(1, '1.588207');
    expect(invoice.left).toMatchObject([
      { rate: 19, taxable: 1, tax: 0 },
      { rate: 7, taxable: 0, tax: 1 },
    ]);
    credit(3, '0.000555');
    credit(2, '16.65');
    expect(invoice.isOpen).toBe(false);
  });
});

test('when a quote is billed in parts of which some are corrected, then at each rate the parts add up to it', () => {
  const shares = fc.array(
    fc.record({ percent: fc.integer({ min: 1, max: 60 }), corrected: fc.option(fc.integer({ min: 1, max: 100 })) }),
    { maxLength: 4 },
  );
  const property = fc.property(randomDocument, shares, fc.boolean(), (document, wanted, isFinal) => {
    const terms = { ...document, locale: 'en-US' };
    const money = invoiceMoney({ ...document, issuer });
    const quote = { ...money, taxes: taxesOf(money) };
    const quoted = agreedSum(quote);
    const parts: BilledPart[] = [];
    const bill = (lines: readonly (LineItem | ReturnType<typeof partLines>[number])[], corrected: number | null) => {
      const taxed = taxLines(lines, terms);
      const invoice: Taxed = { ...terms, ...taxed };
      const net = netOf(taxed.taxes);
      const amount = corrected === null ? 0 : Math.floor((net * corrected) / 100);
      const source = { terms, number: 'INV-0001', isFirst: true };
      const note = amount > 0 && amount < net ? creditGroups(taxed.taxes, { amount }, source) : [];
      const taxes = leftToCredit(invoice, [
        { ...invoice, amount: netOf(note), tax_amount: taxSumOf(note), taxes: note },
      ]);
      parts.push({
        number: 'INV-0001',
        day: '2026-11-02',
        amount: taxes.reduce((sum, group) => sum + groupSum(group, terms), 0),
        taxes,
      });
    };
    const part = (amount: number, corrected: number | null) => {
      if (amount <= 0 || amount > leftToBill(quoted, parts)) return;
      const taxes = groupsLeft(quote, parts);
      const lines = partLines('progress', { amount, quoteNumber: 'QUO-0001', taxes }, terms);
      try {
        bill(lines, corrected);
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
    };
    for (const { percent, corrected } of wanted) part(percentOf(quoted, percent), corrected);
    if (isFinal) {
      const whole = quotedLines(
        { amount: quoted, line_items: document.line_items, taxes: quote.taxes, whenEmpty: '' },
        terms,
      );
      if (leftToBill(quoted, parts) > 0) bill([...whole, ...deductions(parts, terms)], 30);
    }
    part(leftToBill(quoted, parts), null);
    expect(leftToBill(quoted, parts)).toBe(0);
    for (const { taxable, tax } of groupsLeft(quote, parts)) expect([taxable, tax]).toEqual([0, 0]);
  });
  fc.assert(property, runs(400));
});
