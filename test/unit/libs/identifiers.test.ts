// Numbers of parties: VAT ids, register numbers, IBAN and BIC, and addresses in the order of their country.
import { describe, expect, test } from '@jest/globals';
import { printedIban, readBic, readIban } from '#libs/identifiers/bank-account.ts';
import { isCountry } from '#libs/identifiers/country.ts';
import { postalLines, printedAddress } from '#libs/identifiers/postal-address.ts';
import { readRegisterNumber } from '#libs/identifiers/register-number.ts';
import { ADDRESS_SCHEMES, REGISTER_SCHEMES } from '#libs/identifiers/schemes.ts';
import { printedVatId, readVatId } from '#libs/identifiers/vat-id.ts';

describe('VAT ids', () => {
  test.each([
    ['ATU33864707'],
    ['BE0403053608'],
    ['BG831641791'],
    ['CHE-116.281.710 MWST', 'CHE116281710MWST'],
    ['CY10030954F'],
    ['CZ26168685'],
    ['DE 811 569 869', 'DE811569869'],
    ['DK24256790'],
    ['EE100366327'],
    ['EL094019245'],
    ['GR094019245', 'EL094019245'],
    ['ESB84818442'],
    ['FI01120389'],
    ['FR40303265045'],
    ['gb 220 4302 31', 'GB220430231'],
    ['HR81793146560'],
    ['HU10773381'],
    ['IE6388047V'],
    ['IT00159560366'],
    ['LT100001738313'],
    ['LU26375245'],
    ['LV40003032949'],
    ['MT20200019'],
    ['NL820646660B01'],
    ['NL000099998B57'],
    ['NO 923 609 016', 'NO923609016MVA'],
    ['PL7740001454'],
    ['PT500697256'],
    ['RO14399840'],
    ['SE556703748501'],
    ['SI82646716'],
    ['SK2020317068'],
    ['XI366303068'],
    // Published without a rule for check digits, or unknown to us: the form counts.
    ['AE100123456700003'],
    ['IS12345'],
    ['EU372000041'],
  ])('when one is %s, then it is read', (given, id = given) => {
    expect(readVatId(given)).toEqual({ id });
  });

  test.each([
    ['DE811569868', 'check digits'],
    ['ATU33864708', 'check digits'],
    ['FR41303265045', 'check digits'],
    ['CHE-116.281.711 MWST', 'check digits'],
    ['NO923609017MVA', 'check digits'],
    ['XI366303069', 'check digits'],
    ['DE81156986', 'form'],
    ['811569869', 'form'],
    ['ZZ811569869', 'form'],
    ['Umsatzsteuer', 'form'],
    ['', 'form'],
  ])('when one is %s, then its %s are wrong', (given, problem) => {
    expect(readVatId(given)).toEqual({ problem });
  });

  test('when a Swiss one is printed, then its digits are grouped', () => {
    expect(printedVatId('CHE116281710MWST')).toBe('CHE-116.281.710 MWST');
    expect(printedVatId('CHE116281710')).toBe('CHE-116.281.710');
    expect(printedVatId('DE811569869')).toBe('DE811569869');
  });
});

describe('register numbers', () => {
  test.each([
    ['303 265 045', '0002', '303265045'],
    ['556703-7485', '0007', '5567037485'],
    ['732 829 320 00074', '0009', '73282932000074'],
    ['4006381333931', '0088', '4006381333931'],
    ['12345678', '0106', '12345678'],
    ['51 824 753 556', '0151', '51824753556'],
    ['CHE-116.281.710', '0183', 'CHE116281710'],
    ['DK 13585628', '0184', '13585628'],
    ['923 609 016', '0192', '923609016'],
    ['0417.497.106', '0208', '0417497106'],
    ['2077474-0', '0212', '20774740'],
    ['HRB 1234 Kiel', undefined, 'HRB 1234 Kiel'],
    ['anything', '0060', 'anything'],
  ])('when one is %s of scheme %s, then it is read', (given, scheme, value) => {
    expect(readRegisterNumber(given, scheme)).toBe(value);
  });

  test.each([
    ['303265046', '0002'],
    ['556703-7486', '0007'],
    ['4006381333932', '0088'],
    ['1234567', '0106'],
    ['CHE-116.281.711', '0183'],
    ['923609017', '0192'],
    ['0417497107', '0208'],
  ])('when one is %s of scheme %s, then it cannot be one', (given, scheme) => {
    expect(readRegisterNumber(given, scheme)).toBeUndefined();
  });

  test('when schemes are listed, then those of the large registers are among them, and those that were never assigned are not', () => {
    expect(REGISTER_SCHEMES).toEqual(expect.arrayContaining(['0002', '0088', '0106', '0183', '0184', '0208', '0240']));
    for (const code of ['0001', '0092', '0103', '9930', 'EM']) expect(REGISTER_SCHEMES).not.toContain(code);
    expect(ADDRESS_SCHEMES).toEqual(expect.arrayContaining(['0088', '0204', '0208', '9930', 'EM']));
    expect(new Set(ADDRESS_SCHEMES).size).toBe(ADDRESS_SCHEMES.length);
  });
});

describe('bank accounts', () => {
  test('when form and check digits are right, then blanks and case do not count', () => {
    expect(readIban('de89 3704 0044 0532 0130 00')).toBe('DE89370400440532013000');
    expect(readIban('CH93 0076 2011 6238 5295 7')).toBe('CH9300762011623852957');
    expect(printedIban('CH9300762011623852957')).toBe('CH93 0076 2011 6238 5295 7');
    expect(readBic(' cobadeff ')).toBe('COBADEFF');
  });

  test.each(['DE88370400440532013000', 'DE8937040044053201300', 'US64SVBKUS6S3300958879', 'IBAN', ''])(
    'when an IBAN is %s, then it is none',
    (iban) => {
      expect(readIban(iban)).toBeUndefined();
    },
  );

  test.each(['COBADEF', 'COBAXXFF', 'COBADEFFXX', ''])('when a BIC is %s, then it is none', (bic) => {
    expect(readBic(bic)).toBeUndefined();
  });
});

describe('addresses', () => {
  const street = { line1: '12 Harbour Street' };
  const written = { locale: 'en', from: 'XX' };

  test.each([
    [{ country: 'DE', postal_code: '24103', city: 'Kiel' }, ['12 Harbour Street', '24103 Kiel', 'Germany']],
    [
      { country: 'US', postal_code: '78701', city: 'Austin', region: 'TX' },
      ['12 Harbour Street', 'Austin, TX 78701', 'United States'],
    ],
    [
      { country: 'GB', postal_code: 'EC1A 1BB', city: 'London' },
      ['12 Harbour Street', 'London', 'EC1A 1BB', 'United Kingdom'],
    ],
    // The city is part of what is the region elsewhere: it is not lost.
    [
      { country: 'JP', postal_code: '150-0001', city: '渋谷区', region: '東京都' },
      ['〒150-0001', '東京都渋谷区', '12 Harbour Street', 'Japan'],
    ],
    [{ country: 'XK', city: 'Pristina' }, ['12 Harbour Street', 'Pristina', 'Kosovo']],
  ])('when it is %j, then it has the order of its country', (place, lines) => {
    expect(postalLines({ ...street, ...place }, written).split('\n')).toEqual(lines);
  });

  test('when a letter stays in its country, then the country is not named; else in the language of the document', () => {
    const kiel = { ...street, city: 'Kiel', country: 'DE' };
    expect(postalLines(kiel, { locale: 'de-DE', from: 'DE' })).toBe('12 Harbour Street\nKiel');
    expect(postalLines(kiel, { locale: 'fr-FR', from: 'CH' })).toBe('12 Harbour Street\nKiel\nAllemagne');
  });

  test('when the locale is no language tag, as older accounts may have, then the country is named in English', () => {
    expect(postalLines({ ...street, city: 'Kiel', country: 'DE' }, { locale: 'de_DE', from: 'CH' })).toBe(
      '12 Harbour Street\nKiel\nGermany',
    );
  });

  test('when there is a free address, then it is printed and never the parts', () => {
    const parts = { city: 'Kiel', country: 'DE' };
    expect(printedAddress({ address: 'PO box 1', postal_address: parts }, written)).toBe('PO box 1');
    expect(printedAddress({ address: '', postal_address: parts }, written)).toBe('Kiel\nGermany');
    expect(printedAddress({}, written)).toBeUndefined();
  });

  test('when a country is named, then it is one of ISO 3166-1', () => {
    for (const code of ['DE', 'US', 'AQ', 'XK']) expect(isCountry(code)).toBe(true);
    for (const code of ['EU', 'UK', 'ZZ', 'de', 'DEU', 'toString']) expect(isCountry(code)).toBe(false);
  });
});
