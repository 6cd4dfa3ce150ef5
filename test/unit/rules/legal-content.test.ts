// The fields that the law of the issuer's country wants on an invoice.
import { expect, test } from '@jest/globals';
import { missingByLaw } from '#libs/rules/documents/legal-content.ts';

type Issued = Parameters<typeof missingByLaw>[0];

const LINES = [{ description: 'Mill', qty: '1', rate: '1', discount: '0' }];
const ADDRESS = { line1: '1 Mill Lane', city: 'Kiel' };

/** Returns the names of the missing fields. Amounts are in cents. */
function missing(country: string, { account = {}, client = {}, invoice = {} }: Partial<Record<keyof Issued, object>>) {
  const standard = { currency: 'EUR', amount: 100_000, tax_amount: 19_000, tax_rate: 19, line_items: null };
  const issued = {
    account: { postal_address: { country }, ...account },
    client,
    invoice: { ...standard, description: null, ...invoice },
  };
  return missingByLaw(issued).map(({ path: [field] }) => field);
}

test('when nothing is there but the country, then each country names what its law wants', () => {
  const [issuer, recipient] = ['account.postal_address', 'client.postal_address'];
  expect(missing('DE', {})).toEqual([issuer, 'account.tax_number', recipient, 'description', 'service_date']);
  expect(missing('AT', {})).toEqual([issuer, 'account.vat_id', recipient, 'description', 'service_date']);
  expect(missing('IT', {})).toEqual([issuer, 'account.vat_id', recipient, 'description']);
  expect(missing('FR', {})).toEqual([issuer, 'account.vat_id', recipient, 'description', 'account.legal_id']);
  expect(missing('CH', {})).toEqual([issuer, 'account.vat_id', recipient, 'description']);
  expect(missing('GB', {})).toEqual([issuer, 'account.vat_id', recipient, 'description', 'service_date']);
});

test('when a country has no rules here, or the account names none, then nothing is missing', () => {
  expect(missing('US', {})).toEqual([]);
  expect(missing('', { account: { postal_address: undefined, address: '1 Mill Lane' } })).toEqual([]);
});

test('when all of it is there, then nothing is missing, whichever of several fields it is in', () => {
  const invoice = { line_items: LINES, service_period: { from: '2026-10-01', to: '2026-10-31' } };
  const whole = { postal_address: { ...ADDRESS, country: 'DE' } };
  for (const ids of [{ tax_number: '12/345' }, { vat_id: 'DE123456789' }, { tax_id: 'any' }]) {
    expect(missing('DE', { account: { ...whole, ...ids }, client: whole, invoice })).toEqual([]);
  }
  const written = { address: '1 Mill Lane\nKiel' };
  const described = { description: 'Mill', service_date: '2026-10-31' };
  expect(missing('DE', { account: { ...written, tax_number: '1' }, client: written, invoice: described })).toEqual([]);
  expect(missing('AT', { account: { ...written, tax_number: '1' }, client: written, invoice: described })).toEqual([
    'account.vat_id',
  ]);
});

test('when an address has a country and no street, then it is missing', () => {
  const nowhere = { postal_address: { city: 'Kiel', country: 'DE' } };
  const account = { ...nowhere, vat_id: 'DE123456789' };
  const invoice = { line_items: LINES, service_date: '2026-10-31' };
  expect(missing('DE', { account, client: nowhere, invoice })).toEqual([
    'account.postal_address',
    'client.postal_address',
  ]);
});

test('when an invoice is small, then it needs less, up to the very cent and in the currency of the country', () => {
  const of = (total: number, fields: object = {}) => ({ invoice: { amount: total, tax_amount: 0, ...fields } });
  expect(missing('DE', of(25_000))).toEqual(['account.postal_address', 'description']);
  expect(missing('DE', of(25_001))).toContain('client.postal_address');
  expect(missing('DE', of(25_000, { currency: 'USD' }))).toContain('client.postal_address');
  const taxes = [{ rate: 0, category: 'AE', taxable: 25_000, tax: 0 }];
  expect(missing('DE', of(25_000, { taxes }))).toContain('client.postal_address');
});

test('when there is no tax, then fields about tax are not missing; a small business need not say when it worked', () => {
  const untaxed = { invoice: { tax_amount: 0, tax_rate: 0 } };
  expect(missing('GB', untaxed)).toEqual([]);
  expect(missing('CH', untaxed)).toEqual([]);
  expect(missing('IT', untaxed)).not.toContain('account.vat_id');
  expect(missing('DE', untaxed)).toContain('account.tax_number');
  const exempt = { invoice: { tax_amount: 0, taxes: [{ rate: 0, category: 'E', taxable: 100_000, tax: 0 }] } };
  expect(missing('DE', exempt)).not.toContain('service_date');
});
