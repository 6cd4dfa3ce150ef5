// The payment part of a Swiss QR-bill as it is printed (SIX, Style Guide QR-bill): texts, and the code with its cross.
import { formatAmount, formatReference } from 'swissqrbill/utils';
import { swissCodeImage } from '#libs/documents/swiss-code-image.ts';
import { printedIban } from '#libs/identifiers/bank-account.ts';
import type { SwissBill, SwissParty } from '#libs/rules/paying/swiss-bill.ts';
import { type SwissLabels, swissLabelsOf } from './swiss-labels.ts';

export interface SwissPart {
  /** The language of its labels, which the document may not have. */
  language: string;
  labels: SwissLabels;
  account: string;
  /** Name and address, in lines. */
  creditor: string;
  /** The same without the street, where the receipt has no room for it. */
  shortCreditor: string;
  /** Undefined for an empty field. */
  debtor: string | undefined;
  shortDebtor: string | undefined;
  reference: string | undefined;
  message: string;
  currency: string;
  amount: string;
  /** The code as the data URI of an SVG: only an image has its text in a tagged file. */
  code: string;
}

/** Characters of a line of the receipt, a low estimate. */
const RECEIPT_LINE = 30;
const HOME = 'CH';

export function swissPartOf(bill: SwissBill, language: string): SwissPart {
  const { creditor, debtor, reference } = bill;
  return {
    ...swissLabelsOf(language),
    account: printedIban(bill.iban),
    creditor: linesOf(creditor).join('\n'),
    shortCreditor: shortLinesOf(creditor),
    debtor: debtor && linesOf(debtor).join('\n'),
    shortDebtor: debtor && shortLinesOf(debtor),
    reference: reference && formatReference(reference),
    message: bill.message,
    currency: bill.currency,
    amount: formatAmount(bill.amount),
    code: swissCodeImage(bill),
  };
}

function linesOf({ name, line1, postal_code, city, country }: SwissParty): string[] {
  return [name, ...(line1 ? [line1] : []), `${country === HOME ? '' : `${country}-`}${postal_code} ${city}`];
}

/** The standard lets the receipt leave the street out where there is no room. */
function shortLinesOf(party: SwissParty): string {
  const lines = linesOf(party);
  const isLong = lines.some((line) => line.length > RECEIPT_LINE);
  return (isLong ? linesOf({ ...party, line1: undefined }) : lines).join('\n');
}
