// Documents of every kind, each with words that no other document has.
import type { PdfDocument } from '#libs/jobs/pdf-document.ts';
import { LAYOUTS, STYLES } from '../../test/support/renderer/documents.ts';

/** Letters that no font joins into one, so that the page's text can be read back. */
export const TOKEN = /ZQ[A-HJ-NP-Z]{14}/g;

export interface MixedDocument {
  document: Partial<PdfDocument>;
  number: string;
  /** Each is printed somewhere. */
  tokens: string[];
  /** The caller hangs up after so long. */
  leavesAfterMs: number | undefined;
}

const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ';
const SCRIPTS = [
  'Ärger in Köln',
  'Счёт за работу',
  'Τιμολόγιο',
  '設計費用',
  'تصميم الموقع',
  'עיצוב אתר',
  'ออกแบบ',
  'डिज़ाइन',
];

/** @param bytes where chance comes from. */
export function mixedDocument(bytes: (length: number) => Buffer): MixedDocument {
  const tokens: string[] = [];
  const chance = (choices: number) => bytes(4).readUInt32LE() % choices;
  const oneOf = <Value>(values: readonly Value[]) => values[chance(values.length)] as Value;
  const token = () => {
    const made = `ZQ${Array.from(bytes(14), (byte) => ALPHABET[byte % ALPHABET.length]).join('')}`;
    tokens.push(made);
    return made;
  };
  const number = token();
  const isQuote = chance(3) === 0;
  const lineItems = Array.from({ length: 1 + chance(chance(10) === 0 ? 60 : 12) }, () => {
    return { description: `${token()} ${oneOf(SCRIPTS)}`, qty: 1 + chance(9), rate: `${chance(900)}.50` };
  });
  const document: Partial<PdfDocument> = {
    title: isQuote ? 'Quote' : 'Invoice',
    number,
    date: '2026-11-21',
    clientName: token(),
    clientEmail: 'client@example.com',
    partnerName: token(),
    partnerEmail: 'issuer@example.com',
    amount: 240,
    lineItems,
    fontStyle: oneOf(STYLES),
    layoutType: oneOf(LAYOUTS),
    showBanner: chance(4) > 0,
    brandColor: `#${bytes(3).toString('hex')}`,
    textScale: oneOf([0.8, 1, 1.2]),
    requiresSignature: isQuote && chance(2) === 0,
    ...(chance(2) === 0 ? { notes: `Thanks, ${token()}.` } : {}),
    ...(chance(3) === 0 ? { terms: `${token()}\n${oneOf(SCRIPTS)}` } : {}),
    ...(chance(4) === 0
      ? { bodyMarkdown: `# ${token()}\n\n- **${token()}**\n- [${token()}](https://example.com)\n` }
      : {}),
    ...(isQuote ? { quoteIntro: token() } : { poNumber: token() }),
    ...(chance(8) === 0 ? { logoUrl: PIXEL } : {}),
  };
  return { document, number, tokens, leavesAfterMs: chance(50) === 0 ? chance(20) : undefined };
}

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
