// Our text of a Swiss code against that of another implementation. The package draws its text and does not give it out,
// so the test reads it from the file inside.
import { beforeAll, expect, test } from '@jest/globals';
import type { Data } from 'swissqrbill/types';
import { type SwissBill, swissBill, swissCode } from '#libs/rules/paying/swiss-bill.ts';

const INSIDE = '../../../node_modules/swissqrbill/lib/esm/shared/qr-code.js';
let textOf: (data: Data) => string;
beforeAll(async () => {
  textOf = ((await import(INSIDE)) as { generateQRData: typeof textOf }).generateQRData;
});

const address = { line1: 'Rue du Lac 1268', postal_code: '2501', city: 'Biel', country: 'CH' };
const debtor = {
  name: 'Pia Rutschmann',
  line1: 'Marktgasse 28',
  postal_code: '9400',
  city: 'Rorschach',
  country: 'CH',
};
const sum = { amount: 199_995, currency: 'CHF', number: 'INV-2026-0042' };

test.each([
  ['a creditor reference and a debtor', { iban: 'CH5800791123000889012' }, { ...sum, debtor }, 'SCOR'],
  ['a QR reference without a debtor', { qr_iban: 'CH4431999123000889012' }, { ...sum, currency: 'EUR' }, 'QRR'],
  ['no reference', { iban: 'CH5800791123000889012' }, { ...sum, number: `X-${'1'.repeat(30)}`, debtor }, 'NON'],
])('when a bill has %s, then both have the same text', (_case, account, due, kind) => {
  const bill = swissBill({ type: 'swiss_qr', holder: 'Robert Schneider AG', ...account, address }, due) as SwissBill;
  const { iban, creditor, amount, currency, debtor: payer, reference, message } = bill;
  const text = textOf({
    currency,
    amount,
    message,
    creditor: { ...partyOf(creditor), account: iban },
    ...(payer ? { debtor: partyOf(payer) } : {}),
    ...(reference ? { reference } : {}),
  });
  expect(swissCode(bill)).toBe(text);
  expect(text.split('\n')).toContain(kind);
});

function partyOf({ name, line1 = '', postal_code: zip, city, country }: SwissBill['creditor']) {
  return { name, address: line1, zip, city, country };
}
