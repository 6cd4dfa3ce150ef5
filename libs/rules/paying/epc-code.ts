// The text of an EPC code: scanned by a banking app, it fills in a SEPA credit transfer (EPC069-12, version 002).
import { isSEPACountry } from 'ibantools';
import { fromMinor } from '../money/money.ts';

export interface Transfer {
  holder: string;
  iban: string;
  bic?: string | undefined;
  /** In minor units. */
  amount: number;
  currency: string;
  /** The number by which the holder finds the invoice. */
  reference: string;
}

/** In characters, as banks take them. */
const LONGEST = { holder: 70, reference: 140 } as const;
/** 999,999,999.99 euros, in minor units. */
const AMOUNT_MAX = 99_999_999_999;
const BYTES_MAX = 331;
const UTF_8 = '1';

/**
 * Writes the text of the code.
 * @returns undefined where no SEPA transfer pays the amount: another currency, a bank outside SEPA, nothing to pay, an
 * amount or letters that are too long for it.
 */
export function epcCode({ holder, iban, bic, amount, currency, reference }: Transfer): string | undefined {
  if (currency !== 'EUR' || !isSEPACountry(iban.slice(0, 2)) || amount <= 0 || amount > AMOUNT_MAX) return undefined;
  const euros = `EUR${fromMinor(amount, currency).toFixed(2)}`;
  // A purpose and a structured reference are left empty. Banks show the holder only the unstructured one as it is.
  const text = [
    'BCD',
    '002',
    UTF_8,
    'SCT',
    bic ?? '',
    oneLine(holder, LONGEST.holder),
    iban,
    euros,
    '',
    '',
    oneLine(reference, LONGEST.reference),
  ].join('\n');
  return Buffer.byteLength(text) > BYTES_MAX ? undefined : text;
}

function oneLine(text: string, longest: number): string {
  return [...text.replaceAll(/[\s\p{C}]+/gu, ' ').trim()].slice(0, longest).join('').trim();
}
