// Frozen parties on a printed document: addresses in parts, numbers with their registers, each number once.
import { describe, expect, test } from '@jest/globals';
import { printedParties } from '#libs/documents/printed-parties.ts';
import { invoiceDocument } from '#libs/documents/stored-document.ts';
import type { InvoiceRecord } from '#libs/models/billing/invoice.ts';
import type { Parties } from '#libs/models/billing/parties.ts';
import { paymentTexts } from '#libs/rules/paying/ways-to-pay.ts';

const kiel = { line1: 'Hafenstraße 12', postal_code: '24103', city: 'Kiel', country: 'DE' };
const wien = { line1: 'Ring 1', postal_code: '1010', city: 'Wien', country: 'AT' };

function printed({ issuer = {}, client = {} }: { issuer?: object; client?: object }) {
  const parties = {
    issuer: { name: 'Ada North', locale: 'de-DE', ...issuer },
    client: { id: 'c', name: 'Konrad', email: 'konrad@example.com', ...client },
  };
  return printedParties(parties as Parties, 'de-DE');
}

describe('addresses', () => {
  test('when both are in one country, then it is not named; across a border both name theirs', () => {
    const home = printed({ issuer: { postal_address: kiel }, client: { postal_address: kiel } });
    expect([home.partnerAddress, home.clientAddress]).toEqual(Array(2).fill('Hafenstraße 12\n24103 Kiel'));
    const abroad = printed({ issuer: { postal_address: kiel }, client: { postal_address: wien } });
    expect(abroad.partnerAddress).toBe('Hafenstraße 12\n24103 Kiel\nDeutschland');
    expect(abroad.clientAddress).toBe('Ring 1\n1010 Wien\nÖsterreich');
  });

  test('when there is a free address, then it is printed instead', () => {
    expect(printed({ client: { address: 'Postfach 1', postal_address: wien } }).clientAddress).toBe('Postfach 1');
  });
});

describe('numbers', () => {
  test('when the free tax_id is one of the numbers beside it, then it is printed once; else it is printed, too', () => {
    const numbers = { vat_id: 'DE136695976', tax_number: '20/123/45678' };
    for (const tax_id of ['DE 136 695 976', '20 123 45678', undefined]) {
      expect(printed({ issuer: { ...numbers, tax_id } }).partnerTaxId).toBeUndefined();
    }
    expect(printed({ issuer: { ...numbers, tax_id: 'EORI 7' } }).partnerTaxId).toBe('EORI 7');
    expect(printed({ issuer: { tax_id: 'DE136695976' } })).toMatchObject({ partnerTaxId: 'DE136695976' });
  });

  test('when a register has a name here, then it stands before its number', () => {
    const client = { legal_id: { value: '303265045', scheme: '0002' }, vat_id: 'CHE116281710MWST' };
    expect(printed({ issuer: { legal_id: { value: 'HRB 1234 Kiel' } }, client })).toMatchObject({
      partnerLegalId: 'HRB 1234 Kiel',
      clientLegalId: 'SIREN 303265045',
      clientVatId: 'CHE-116.281.710 MWST',
    });
  });

  test('when the legal name is the name above, then it is not printed again', () => {
    const company = 'Studio North GmbH';
    expect(printed({ issuer: { company, legal_name: company } }).partnerLegalName).toBeUndefined();
    expect(printed({ issuer: { company: 'Studio North', legal_name: company } }).partnerLegalName).toBe(company);
  });
});

test('when there are bank accounts and a free text, then all are in the payment details, each IBAN in groups', () => {
  const options = [
    { type: 'bank_transfer' as const, holder: 'Ada', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
    { type: 'bank_transfer' as const, text: 'Cash at the desk' },
  ];
  expect(paymentTexts({ bank_details: 'Thank you', payment_options: options })).toBe(
    'Ada\nIBAN DE89 3704 0044 0532 0130 00\nBIC COBADEFFXXX\n\nCash at the desk\n\nThank you',
  );
  expect(paymentTexts({ bank_details: null })).toBe('');
});

test('when a bank account has no holder, then the issuer is its holder', () => {
  const payment_options = [
    { type: 'bank_transfer' as const, iban: 'DE89370400440532013000' },
    { type: 'bank_transfer' as const, text: 'Cash at the desk' },
  ];
  const printedOf = (issuer: object) => paymentTexts({ payment_options, ...issuer }).split('\n');
  expect(printedOf({ name: 'Ada North' })).toEqual([
    'Ada North',
    'IBAN DE89 3704 0044 0532 0130 00',
    '',
    'Cash at the desk',
  ]);
  expect(printedOf({ name: 'Ada North', company: 'North', legal_name: 'North GmbH' })[0]).toBe('North GmbH');
});

describe('the code to pay', () => {
  const payment_options = [
    { type: 'bank_transfer', text: 'Cash at the desk' },
    { type: 'bank_transfer', iban: 'DE89370400440532013000' },
  ];
  const invoice = {
    number: 7,
    number_text: 'INV-0007',
    status: 'Sent',
    currency: 'EUR',
    amount: 10_000,
    tax_amount: 1_900,
  };
  const codeOf = (given: object) => {
    const parties = {
      issuer: { name: 'Ada North', locale: 'de-DE', payment_options },
      client: { id: 'c', name: 'Konrad' },
    };
    const details = { parties: parties as Parties, timeZone: 'UTC', isTest: false };
    const record = { ...invoice, issue_date: '2026-11-26', line_items: null, amount_paid: 0, ...given };
    return invoiceDocument(record as InvoiceRecord, details, {} as never).transferCode?.split('\n');
  };

  test('when an invoice is issued, then it asks for what is due, to the first account with an IBAN', () => {
    expect(codeOf({})?.slice(5)).toEqual(['Ada North', 'DE89370400440532013000', 'EUR119.00', '', '', 'INV-0007']);
    expect(codeOf({ amount_paid: 1_900, amount_credited: 500 })?.[7]).toBe('EUR95.00');
  });

  test.each([
    ['is a draft', { status: 'Draft' }],
    ['is paid', { amount_paid: 11_900 }],
    ['is in francs', { currency: 'CHF' }],
  ])('when an invoice %s, then there is none', (_case, given) => {
    expect(codeOf(given)).toBeUndefined();
  });
});
