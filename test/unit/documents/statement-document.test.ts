// The bound on the rows of a printed statement of account, for every way in which it is printed.
import { expect, test } from '@jest/globals';
import { STANDARD_LOOKS } from '#libs/documents/looks.ts';
import { statementDocument } from '#libs/documents/statement-document.ts';

const row = { date: '2026-11-12', kind: 'payment', document: { number: 'PAY-1' }, amount: -1, balance: 0 };
const sums = { opening: 0, debits: 0, credits: 0, closing: 0, due: 0, ageing: {}, credit: 0 };
const documentOf = (rows: readonly number[], accessible = false) =>
  statementDocument(
    {
      client: { name: 'Ada' } as never,
      period: { from: '2026-11-01', to: '2026-11-26' },
      statements: rows.map((length) => ({
        currency: 'EUR',
        ...sums,
        rows: Array.from({ length }, () => row),
      })) as never,
    },
    { name: 'Studio North', locale: 'en-US' } as never,
    { ...STANDARD_LOOKS, accessible },
  );

test('when a statement has more than 3,000 rows in all currencies, or 1,000 for screen readers, then 422 names the bound', () => {
  expect(documentOf([1_500, 1_500]).statement?.statements).toHaveLength(2);
  expect(() => documentOf([1_500, 1_501])).toThrow('The statement has more than 3000 rows');
  expect(documentOf([500, 500], true).statement?.statements).toHaveLength(2);
  expect(() => documentOf([500, 501], true)).toThrow('The statement has more than 1000 rows');
});
