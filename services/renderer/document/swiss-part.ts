// The payment part of a Swiss QR-bill as it is printed (SIX, Style Guide QR-bill): texts, and the code with its cross.
import encodeQR from 'qr';
import { formatAmount, formatReference } from 'swissqrbill/utils';
import { printedIban } from '#libs/identifiers/bank-account.ts';
import { type SwissBill, type SwissParty, swissCode } from '#libs/rules/paying/swiss-bill.ts';
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
    code: drawnCode(swissCode(bill)),
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

/** Lengths of the standard in millimetres: the code, and on it the cross on its black square with a white edge. */
const CODE_MM = 46;
const CROSS_MM = { edge: 7, square: 6, length: 3.89, width: 1.17 } as const;

/** Draws the code. The part around it has the quiet zone. */
function drawnCode(text: string): string {
  // The library draws no code without an edge.
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: 1 })
    .slice(1, -1)
    .map((row) => row.slice(1, -1));
  const side = CODE_MM / modules.length;
  const rows = modules.flatMap((row, y) => runsOf(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`));
  const middle = (width: number, height: number, colour: string) =>
    `<rect x="${(CODE_MM - width) / 2}" y="${(CODE_MM - height) / 2}" width="${width}" height="${height}" fill="${colour}"/>`;
  const { edge, square, length, width } = CROSS_MM;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${CODE_MM} ${CODE_MM}" shape-rendering="crispEdges">`,
    `<path transform="scale(${side.toFixed(6)})" d="${rows.join('')}"/>`,
    middle(edge, edge, '#fff'),
    middle(square, square, '#000'),
    middle(length, width, '#fff'),
    middle(width, length, '#fff'),
    '</svg>',
  ].join('');
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}

/** Returns where dark modules begin in a row, and how many follow each other. */
function runsOf(row: readonly boolean[]): [number, number][] {
  const runs: [number, number][] = [];
  row.forEach((isDark, x) => {
    const last = runs.at(-1);
    if (!isDark) return;
    if (last && last[0] + last[1] === x) last[1] += 1;
    else runs.push([x, 1]);
  });
  return runs;
}
