// Chooses the forms of Han characters of a document, because China, Taiwan, Hong Kong, Japan and Korea draw many of
// them differently.
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import type { HanForms } from './fonts.ts';

const KANA = /[\u3040-\u30ff]/;
const HANGUL = /[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]/;
const HAN = /\p{Script=Han}/gu;

/** Returns the forms by the document's language, otherwise by its texts. */
export function hanFormsOf({ lineItems, locale, ...fields }: PrintableDocument): HanForms {
  const ofLocale = locale === undefined ? undefined : formsOf(locale);
  if (ofLocale) return ofLocale;
  const texts = [...Object.values(fields), ...lineItems.map(({ description }) => description)];
  // Images as data URIs are long and have no such characters.
  const written = texts.filter((text) => typeof text === 'string' && !/^[\0-\u02ff]*$/.test(text)).join('\n');
  if (KANA.test(written)) return 'japanese';
  if (HANGUL.test(written)) return 'korean';
  if (fields.currencySymbol.trim() === 'HK$') return 'hongKong';
  return isTraditional(written) ? 'taiwan' : 'simplified';
}

function formsOf(locale: string): HanForms | undefined {
  try {
    const { language, script, region } = new Intl.Locale(locale).maximize();
    if (language === 'ja') return 'japanese';
    if (language === 'ko') return 'korean';
    if (script === 'Hant') return region === 'HK' || region === 'MO' ? 'hongKong' : 'taiwan';
    return script === 'Hans' ? 'simplified' : undefined;
  } catch {
    return undefined; // An older version stored the locale without a check.
  }
}

/** True when more characters are only in the Taiwanese standard than only in the mainland's. */
function isTraditional(text: string): boolean {
  const found = new Set(text.match(HAN));
  if (found.size === 0) return false;
  const { mainland, taiwan } = standards();
  let balance = 0;
  for (const character of found) balance += Number(taiwan.has(character)) - Number(mainland.has(character));
  return balance > 0;
}

let known: Record<'mainland' | 'taiwan', Set<string>> | undefined;

/** Returns the characters of GB 2312 and Big5 from the decoder tables of Node. It takes a few milliseconds, once. */
function standards() {
  known ??= {
    mainland: decoded('gbk', { lead: [0xb0, 0xf7], trail: [[0xa1, 0xfe]] }),
    taiwan: decoded('big5', {
      lead: [0xa4, 0xf9],
      trail: [
        [0x40, 0x7e],
        [0xa1, 0xfe],
      ],
    }),
  };
  return known;
}

type Range = [from: number, to: number];

function decoded(encoding: string, { lead, trail }: { lead: Range; trail: Range[] }): Set<string> {
  const bytes: number[] = [];
  for (let first = lead[0]; first <= lead[1]; first += 1) {
    for (const [from, to] of trail) for (let second = from; second <= to; second += 1) bytes.push(first, second);
  }
  return new Set(new TextDecoder(encoding).decode(Uint8Array.from(bytes)).match(HAN));
}
