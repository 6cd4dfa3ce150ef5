// The bytes of e-invoices: what was judged valid by the official rules does not change unseen. FROZEN=1 writes them anew; judge them with `npm run e-invoices`.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { FormatName } from '#libs/e-invoice/formats.ts';
import { writeEInvoice } from '#libs/e-invoice/write.ts';
import { type Case, cases } from '../../e-invoices/cases.ts';
import { termsOfCase } from '../../e-invoices/terms-of-case.ts';

const FROZEN: readonly [name: string, format: FormatName][] = [
  ['plain', 'xrechnung-ubl'],
  ['all references', 'xrechnung-cii'],
  ['shipping at another rate', 'en16931-cii'],
  ['prices with tax, discount, shipping', 'peppol-ubl'],
  ['a small business', 'xrechnung-cii'],
  ['hostile text', 'en16931-ubl'],
  ['credit note of mixed rates', 'peppol-ubl'],
];

test.each(FROZEN)('when «%s» is written as %s, then its bytes are those that were judged', (name, format) => {
  const file = new URL(`frozen/${name.replaceAll(/\W+/g, '-')}.${format}.xml`, import.meta.url);
  const written = writeEInvoice(termsOfCase(cases[name] as Case), format);
  if (process.env['FROZEN'] === '1') writeFileSync(file, written);

  expect(written).toBe(readFileSync(file, 'utf8'));
});
