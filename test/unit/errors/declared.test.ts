// Every declared code is used, and its text, parameters and advice are whole.
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ERROR_GROUPS, ERRORS } from '#libs/errors/declared.ts';
import { PROBLEM_GROUPS, PROBLEMS } from '#libs/errors/problems.ts';
import { appError, errorBody, fieldProblem, notFound, validationFailed } from '#libs/errors.ts';

/** Everything between quotes in the code, and with the first parts that a code may begin with. */
const written = new Set(
  globSync('{libs,services}/**/*.ts', { exclude: ['libs/errors/**'] }).flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const plain = [...text.matchAll(/'([a-z0-9_]+)'/g)].map(([, code = '']) => code);
    const made = [...text.matchAll(/`\$\{code\}(_[a-z_]+)`/g)].flatMap(([, end = '']) =>
      ['time_entry', 'expense'].map((start) => start + end),
    );
    return [...plain, ...made];
  }),
);

test('when a code is declared, then something makes that error', () => {
  expect(Object.keys(ERRORS).filter((code) => !written.has(code))).toEqual([]);
  expect(Object.keys(PROBLEMS).filter((code) => !written.has(code))).toEqual([]);
});

test('when codes are declared in groups, then each is in one of them', () => {
  const codesOf = (groups: object) => Object.values(groups).flatMap((group) => Object.keys(group as object));
  expect(codesOf(ERROR_GROUPS)).toEqual(Object.keys(ERRORS));
  expect(codesOf(PROBLEM_GROUPS)).toEqual(Object.keys(PROBLEMS));
});

test.each(Object.entries(ERRORS))(
  'when %s is declared, then it is one for callers',
  (code, { status, text, advice }) => {
    expect(code).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/);
    expect([status, status >= 400 && status < 600]).toEqual([status, true]);
    expect(text).not.toMatch(/\.$|\{\}/);
    expect(advice).toMatch(/^[A-Z`].*\.$/);
  },
);

test('when a text has gaps, then the parameters fill them', () => {
  expect(errorBody(appError('quote_amount_exceeded', { left: '1500.00', number: 'QUO-0002' }))).toEqual({
    error: 'Only 1500.00 of QUO-0002 is left to bill',
    code: 'quote_amount_exceeded',
    params: { left: '1500.00', number: 'QUO-0002' },
  });
  expect(appError('invoice_already_sent', { fields: ['amount', 'currency'] }).message).toBe(
    'Cannot change amount, currency after the invoice was sent',
  );
  expect(appError('client_in_use', { records: 'hour_packages' }).message).toBe(
    'Cannot delete a client with hour packages',
  );
  expect(appError('document_too_long', { pages: 1212, limit: 150 }).message).toBe(
    'The document is estimated at 1,212 pages of work, at most 150 are printed',
  );
});

test('when a text names days, then it names the first ten', () => {
  const days = Array.from({ length: 11 }, (_none, index) => `2026-11-${index + 10}`);
  expect(appError('recurring_days_lost', { days: days.slice(0, 1) }).message).toMatch(/have: 2026-11-10\. Run/);
  expect(appError('recurring_days_lost', { days }).message).toMatch(/2026-11-19 and others\. Run/);
});

test('when a record is not found, then both texts of the specification have one code', () => {
  for (const text of ['Quote not found', 'Quote not found or access denied'] as const) {
    expect(notFound(text)).toMatchObject({ status: 404, message: text, code: 'quote_not_found' });
  }
});

test('when a field is wrong, then its problem stands beside the message in details', () => {
  expect(errorBody(fieldProblem('amount', 'too_large_in_currency', { currency: 'CLF' }))).toEqual({
    error: 'Validation failed',
    details: { amount: ['amount is too large in CLF'] },
    code: 'validation_failed',
    params: {},
    problems: [
      {
        field: 'amount',
        code: 'too_large_in_currency',
        message: 'amount is too large in CLF',
        params: { currency: 'CLF' },
      },
    ],
  });
  const path = ['line_items', 0, 'rate'];
  expect(errorBody(validationFailed([{ path, code: 'required', message: 'x' }], 'list'))).toMatchObject({
    details: ['x'],
    problems: [{ field: 'line_items.0.rate', code: 'required' }],
  });
});
