// The Swiss QR-bill (SIX, Implementation Guidelines 2.3): its data, and the text of its code.
import { calculateQRReferenceChecksum, calculateSCORReferenceChecksum } from 'swissqrbill/utils';
import { fromMinor } from '../money/money.ts';
import type { PaymentOption, SwissAddress } from './payment-options.ts';

export type SwissParty = SwissAddress & { name: string };

/** A payment part. The standard takes structured addresses only, and asks for a QR reference with a QR-IBAN. */
export interface SwissBill {
  iban: string;
  creditor: SwissParty;
  /** In major units. */
  amount: number;
  currency: 'CHF' | 'EUR';
  /** Absent where the client's address is not known in the form of the standard. */
  debtor?: SwissParty;
  reference?: string;
  /** The number of the document, which banks show the creditor. */
  message: string;
}

/** The lengths of the standard, in characters. */
export const SWISS_LONGEST = { name: 70, line1: 70, postal_code: 16, city: 35 } as const;
/** 999,999,999.99, in minor units. */
const AMOUNT_MAX = 99_999_999_999;
const MESSAGE_LONGEST = 140;
const QR_DIGITS = 26;
const CREDITOR_REFERENCE_LONGEST = 21;
const CURRENCIES = ['CHF', 'EUR'] as const;

/** The letters of the standard: Latin with the accents of Europe, and the sign of the euro. */
const LETTERS = /^[\u0020-\u007e\u00a0-\u017f\u0218-\u021b\u20ac]*$/;

/** True when a QR-bill can carry the text. */
export function isSwissText(text: string): boolean {
  return LETTERS.test(text);
}

/**
 * Returns the payment part for an amount in minor units. Undefined where no QR-bill can be made: another currency, an
 * amount that is too large, a number without the digits that a QR reference needs.
 */
export function swissBill(
  { holder, iban, qr_iban, address }: PaymentOption,
  { amount, currency, number, debtor }: { amount: number; currency: string; number: string; debtor?: SwissParty },
): SwissBill | undefined {
  const accepted = CURRENCIES.find((one) => one === currency);
  const account = qr_iban ?? iban;
  const reference = qr_iban ? qrReference(number) : creditorReference(number);
  if (!accepted || !account || !holder || !address || amount <= 0 || amount > AMOUNT_MAX) return undefined;
  if (qr_iban && !reference) return undefined;
  return {
    iban: account,
    creditor: { name: holder, ...address },
    amount: fromMinor(amount, currency),
    currency: accepted,
    ...(debtor && isSwissParty(debtor) ? { debtor } : {}),
    ...(reference ? { reference } : {}),
    message: number.slice(0, MESSAGE_LONGEST),
  };
}

function isSwissParty({ country: _country, ...texts }: SwissParty): boolean {
  return Object.entries(SWISS_LONGEST).every(([name, longest]) => {
    const text = texts[name as keyof typeof SWISS_LONGEST] ?? '';
    return (text !== '' || name === 'line1') && text.length <= longest && isSwissText(text);
  });
}

/** Returns the QR reference of a number: its digits and a check digit. Undefined when it has none, or too many. */
function qrReference(number: string): string | undefined {
  const digits = number.replaceAll(/\D/g, '');
  if (digits === '' || digits.length > QR_DIGITS) return undefined;
  const padded = digits.padStart(QR_DIGITS, '0');
  return padded + calculateQRReferenceChecksum(padded);
}

/**
 * Returns the creditor reference (ISO 11649) of a number: its letters and digits after check digits. Undefined when
 * there are none, or too many.
 */
export function creditorReference(number: string): string | undefined {
  const plain = number.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  if (plain === '' || plain.length > CREDITOR_REFERENCE_LONGEST) return undefined;
  return `RF${calculateSCORReferenceChecksum(plain)}${plain}`;
}

/** The version of the code, and UTF-8. */
const HEAD = ['SPC', '0200', '1'];
const ULTIMATE_CREDITOR = Array(7).fill('');
const NO_DEBTOR = Array(7).fill('');

/** Returns the text of the code. */
export function swissCode({ iban, creditor, amount, currency, debtor, reference, message }: SwissBill): string {
  return [
    ...HEAD,
    iban,
    ...partyLines(creditor),
    ...ULTIMATE_CREDITOR,
    amount.toFixed(2),
    currency,
    ...(debtor ? partyLines(debtor) : NO_DEBTOR),
    referenceType(reference),
    reference ?? '',
    message,
    'EPD',
  ].join('\n');
}

/** The street and its number are one line: the line of the number is empty. */
function partyLines({ name, line1 = '', postal_code, city, country }: SwissParty): string[] {
  return ['S', name, line1, '', postal_code, city, country];
}

function referenceType(reference: string | undefined): string {
  if (reference === undefined) return 'NON';
  return reference.startsWith('RF') ? 'SCOR' : 'QRR';
}
