// Documents of every length, and what is wrong with where their pages break.
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { anInvoice, LAYOUTS, STYLES } from './documents.ts';

/** Kinds of lines and sums. */
const KINDS = ['plain', 'details', 'discounted', 'long line last', 'signed'] as const;
const SIZES = ['a4', 'letter'] as const;

export interface BreakCase {
  kind: (typeof KINDS)[number];
  size: (typeof SIZES)[number];
  fontStyle: (typeof STYLES)[number];
  layoutType: (typeof LAYOUTS)[number];
}

export const BREAK_CASES: readonly BreakCase[] = KINDS.flatMap((kind) =>
  SIZES.flatMap((size) =>
    STYLES.flatMap((fontStyle) => LAYOUTS.map((layoutType) => ({ kind, size, fontStyle, layoutType }))),
  ),
);

const WORK_PACKAGES = Array.from({ length: 30 }, (_none, index) => `Detail ${index}.`).join('\n');

/** Returns a document of `length` lines of 10 each. It is a stored one, because only those can be Letter. */
export function documentOf(length: number, { kind, size, fontStyle, layoutType }: BreakCase): PrintableDocument {
  const lineItems = Array.from({ length }, (_none, index) => {
    const isLong = kind === 'long line last' && index === length - 1;
    const details = isLong ? `\n${WORK_PACKAGES}` : kind === 'details' ? '\nDetail of it.' : '';
    return { description: `Line ${index}.${details}`, qty: '1', rate: '10', amount: 10 };
  });
  const sum = length * 10;
  const discounted = kind === 'discounted' ? { discountAmount: 5, shippingAmount: 5 } : {};
  return {
    ...anInvoice({ fontStyle, layoutType, lineItems, subtotal: sum, amount: sum * 1.2 }),
    ...discounted,
    taxAmount: sum * 0.2,
    locale: 'en-GB',
    currency: 'EUR',
    pageSize: size,
    requiresSignature: kind === 'signed',
  };
}

const SUM = ['Subtotal', 'Tax (20%)'];
const SIGNATURE = ['Accepted by', 'Signature', 'Name'];
/** A line of the table, or of the details of one. */
const LINE = /(?:Line|Detail) (?:\d+|of it)\./;

/** @param pages the text of each. @returns what is wrong, empty when nothing is. */
export function breakFaults(pages: readonly string[]): string[] {
  const faults: string[] = [];
  const last = pages.findLast((text) => hasRow(text, 'Total'));
  const withSum = pages.filter((text) => text === last || SUM.some((label) => hasRow(text, label)));
  if (withSum.length > 1) faults.push('sum split');
  const [sumPage = ''] = withSum;
  if (!SUM.every((label) => hasRow(sumPage, label))) faults.push('sum incomplete');
  if (!LINE.test(sumPage.slice(0, sumPage.indexOf('Subtotal')))) faults.push('sum alone');
  const first = pages.find((text) => text.includes('Line 0.')) ?? '';
  if (pages.some((text) => text.includes('Line 1.')) && !first.includes('Line 1.'))
    faults.push('line alone under the head');
  if (!pages[0]?.includes('Line 0.')) faults.push('first page without lines');
  const withSignature = pages.filter((text) => SIGNATURE.slice(0, 2).some((label) => hasRow(text, label)));
  if (withSignature.length > 1) faults.push('signature split');
  const signed = withSignature[0];
  if (signed && !LINE.test(signed)) faults.push('signature alone');
  return faults;
}

function hasRow(text: string, label: string): boolean {
  return text.split('\n').some((line) => line.trim().startsWith(label));
}
