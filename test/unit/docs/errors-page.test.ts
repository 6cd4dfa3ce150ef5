// The page about errors lists exactly the codes that are declared.
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ERRORS } from '#libs/errors/declared.ts';
import { PROBLEMS } from '#libs/errors/problems.ts';
import { ERRORS_PAGE, errorsPage } from './errors-section.ts';

test('when an error is declared or changed, then its row is, or "npm run docs" was forgotten', () => {
  expect(readFileSync(ERRORS_PAGE, 'utf8')).toBe(errorsPage());
});

test('when the lists are read, then each code has one row', () => {
  const rows = [...errorsPage().matchAll(/^\| `([a-z0-9_]+)` \|/gm)].map(([, code]) => code);
  const fields = ['error', 'code', 'params', 'details', 'problems'];
  const examples = ['client_not_found'];
  expect(rows.toSorted()).toEqual(
    [...fields, ...examples, ...Object.keys(ERRORS), ...Object.keys(PROBLEMS)].toSorted(),
  );
});

test('when the page has lost its marks, then it is an error', () => {
  expect(() => errorsPage('# Errors')).toThrow('has no section');
});
