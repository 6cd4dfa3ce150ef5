// The ways to pay what is due: which options can pay it, and what each shows.
import { describe, expect, test } from '@jest/globals';
import { paymentLink } from '#libs/rules/paying/payment-link.ts';
import type { PaymentOption } from '#libs/rules/paying/payment-options.ts';
import { creditorReference, swissCode } from '#libs/rules/paying/swiss-bill.ts';
import { type SumDue, waysToPay } from '#libs/rules/paying/ways-to-pay.ts';

const address = { line1: 'Seestrasse 7', postal_code: '8002', city: 'Zürich', country: 'CH' };
const OPTIONS: PaymentOption[] = [
  { type: 'bank_transfer', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
  { type: 'swiss_qr', holder: 'Studio Nord AG', iban: 'CH9300762011623852957', address },
  { type: 'swiss_qr', holder: 'Studio Nord AG', qr_iban: 'CH4431999123000889012', address },
  { type: 'upi', vpa: 'studio@okbank', name: 'Studio & Söhne' },
  { type: 'link', label: 'PayPal', url: 'https://paypal.me/nord/{amount}{currency}?n={number}&r={reference}' },
];
const payee = { name: 'Ada North', legal_name: 'Nord GmbH', payment_options: OPTIONS, bank_details: 'Thank you' };
const due: SumDue = { amount: 148_140, currency: 'EUR', number: 'INV-0042' };
const waysOf = (given: Partial<SumDue> = {}) => waysToPay(payee, { ...due, ...given });
const typesOf = (given: Partial<SumDue> = {}) => waysOf(given).map(({ type }) => type);

describe('by currency', () => {
  test.each([
    ['EUR', ['bank_transfer', 'swiss_qr', 'swiss_qr', 'link', 'bank_transfer']],
    ['CHF', ['bank_transfer', 'swiss_qr', 'swiss_qr', 'link', 'bank_transfer']],
    ['INR', ['bank_transfer', 'upi', 'link', 'bank_transfer']],
    ['USD', ['bank_transfer', 'link', 'bank_transfer']],
  ])('when %s are due, then options that cannot pay them are left out', (currency, types) => {
    expect(typesOf({ currency })).toEqual(types);
  });

  test('when nothing is due, or the client has credit, then there is no way', () => {
    expect([typesOf({ amount: 0 }), typesOf({ amount: -1 })]).toEqual([[], []]);
  });
});

test('when euros are due, then the transfer has its account in lines and an EPC code of what is due', () => {
  const [transfer] = waysOf();
  expect(transfer?.text).toBe('Nord GmbH\nIBAN DE89 3704 0044 0532 0130 00\nBIC COBADEFFXXX');
  expect(transfer?.code?.split('\n').slice(5)).toEqual([
    'Nord GmbH',
    'DE89370400440532013000',
    'EUR1481.40',
    '',
    '',
    'INV-0042',
  ]);
  for (const currency of ['CHF', 'USD']) expect(waysOf({ currency })[0]).not.toHaveProperty('code');
});

test('when a part is paid, then codes and links ask for the rest', () => {
  const rest = waysOf({ amount: 5 });
  expect(rest[0]?.code).toContain('EUR0.05');
  expect(rest[1]?.swissBill?.amount).toBe(0.05);
  expect(rest[3]?.link?.url).toContain('/0.05EUR');
});

test('when the document is a draft, then it has accounts, but no codes, parts and links, because its number may change', () => {
  const ways = waysOf({ number: undefined, currency: 'CHF' });
  expect(ways.map(({ type, text }) => [type, text.split('\n').at(-1)])).toEqual([
    ['bank_transfer', 'BIC COBADEFFXXX'],
    ['swiss_qr', 'IBAN CH93 0076 2011 6238 5295 7'],
    ['swiss_qr', 'IBAN CH44 3199 9123 0008 8901 2'],
    ['bank_transfer', 'Thank you'],
  ]);
  for (const way of ways) expect(Object.keys(way)).toEqual(['type', 'text']);
  expect(waysOf({ number: undefined, currency: 'INR' })[1]).toEqual({
    type: 'upi',
    text: 'Studio & Söhne\nUPI studio@okbank',
  });
});

describe('links', () => {
  test('when rupees are due, then UPI has one link, also as a code', () => {
    const [, upi] = waysOf({ currency: 'INR', number: 'INV/2026 7' });
    expect(upi?.link).toEqual({
      label: 'studio@okbank',
      url: 'upi://pay?pa=studio@okbank&pn=Studio%20%26%20S%C3%B6hne&am=1481.40&cu=INR&tr=INV%2F2026%207',
    });
    expect(upi?.code).toBe(upi?.link?.url);
  });

  test('when a number is longer than the reference of UPI, then its end is taken', () => {
    const [, upi] = waysOf({ currency: 'INR', number: `${'X'.repeat(40)}-0042` });
    expect(new URL(String(upi?.link?.url)).searchParams.get('tr')).toBe(`${'X'.repeat(30)}-0042`);
  });

  test('when a template is filled, then every value is percent-encoded and the amount has the decimals of its currency', () => {
    expect(waysOf({ number: 'A/7 #1' })[3]?.link?.url).toBe(
      'https://paypal.me/nord/1481.40EUR?n=A%2F7%20%231&r=RF90A71',
    );
    expect(waysOf({ currency: 'JPY', amount: 1200 })[1]?.link?.url).toContain('/1200JPY');
    expect(waysOf({ currency: 'KWD', amount: 1200 })[1]?.link?.url).toContain('/1.200KWD');
  });

  test('when a value looks like a placeholder, then it is not filled again', () => {
    const values = { number: '{amount}', amount: '1', currency: 'EUR', reference: '$&' };
    expect(paymentLink('https://a.example/{number}/{reference}', values)).toBe('https://a.example/%7Bamount%7D/%24%26');
  });
});

describe('Swiss QR-bills', () => {
  const billsOf = (given: Partial<SumDue> = {}) =>
    waysOf({ currency: 'CHF', ...given }).flatMap(({ swissBill }) => swissBill ?? []);
  const debtor = { name: 'Konrad Käufer', line1: 'Ring 1', postal_code: '1010', city: 'Wien', country: 'AT' };

  test('when the account is no QR-IBAN, then the number is a creditor reference, and also the message', () => {
    const [bill] = billsOf({ debtor });
    expect(swissCode(bill as never).split('\n')).toEqual(
      // biome-ignore format: one group of the standard in each line
      [
        'SPC', '0200', '1',
        'CH9300762011623852957',
        'S', 'Studio Nord AG', 'Seestrasse 7', '', '8002', 'Zürich', 'CH',
        '', '', '', '', '', '', '',
        '1481.40', 'CHF',
        'S', 'Konrad Käufer', 'Ring 1', '', '1010', 'Wien', 'AT',
        'SCOR', 'RF97INV0042', 'INV-0042', 'EPD',
      ],
    );
  });

  test('when the account is a QR-IBAN, then the digits of the number are a QR reference with its check digit', () => {
    const lines = swissCode(billsOf()[1] as never).split('\n');
    expect([lines[3], ...lines.slice(27)]).toEqual([
      'CH4431999123000889012',
      'QRR',
      '000000000000000000000000420',
      'INV-0042',
      'EPD',
    ]);
  });

  test('when the numbers are those of the examples of the standards, then the check digits are theirs', () => {
    expect(creditorReference('539007547034')).toBe('RF18539007547034');
    const [, toQrIban] = billsOf({ number: '21 00000 00003 13947 14300 0901' });
    expect(toQrIban?.reference).toBe('210000000003139471430009017');
  });

  test('when a number has no digits, or too many, then there is no bill to a QR-IBAN; a reference that is too long is left out', () => {
    expect(billsOf({ number: 'INV-X' }).map(({ iban }) => iban)).toEqual(['CH9300762011623852957']);
    const long = billsOf({ number: `INV-${'1'.repeat(27)}` });
    expect(long).toHaveLength(1);
    expect(
      swissCode(long[0] as never)
        .split('\n')
        .slice(27, 30),
    ).toEqual(['NON', '', `INV-${'1'.repeat(27)}`]);
  });

  test.each([
    ['letters that no QR-bill carries', { ...debtor, name: '株式会社' }],
    ['no town', { ...debtor, city: '' }],
    ['a street that is too long', { ...debtor, line1: 'x'.repeat(71) }],
  ])('when the client has %s, then the bill names none, and has a field to fill in', (_case, given) => {
    expect(billsOf({ debtor: given })[0]).not.toHaveProperty('debtor');
    expect(
      swissCode(billsOf({ debtor: given })[0] as never)
        .split('\n')
        .slice(20, 27),
    ).toEqual(Array(7).fill(''));
  });

  test('when more is due than a bill takes, then there is none', () => {
    expect(billsOf({ amount: 99_999_999_999 })).toHaveLength(2);
    expect(billsOf({ amount: 100_000_000_000 })).toEqual([]);
  });
});
