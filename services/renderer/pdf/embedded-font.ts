// A TrueType font inside a PDF of Chromium: its widths, its characters, and the glyphs that are added to it.
import { type CompositeGlyph, readTrueType, type TrueTypeFont } from '../fonts/composite-glyphs.ts';
import type { PdfFile } from './pdf-file.ts';

const FROM_RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const HIGHEST_CODE = 0xff_ff;
/** The most mappings in one list of a map of characters (Adobe Technical Note 5014). */
const MAPPINGS_MOST = 100;

export interface EmbeddedFont extends Pick<TrueTypeFont, 'unitsPerEm' | 'advanceOf'> {
  /** Returns the characters of a glyph as UTF-16 in hexadecimal digits. @param code of the glyph. */
  textOf(code: string): string | undefined;
  /**
   * Adds a glyph.
   * @param text UTF-16 in hexadecimal digits.
   * @returns its code, or undefined when the font is full or cannot hold the glyph.
   */
  codeOf(glyph: CompositeGlyph, text: string): number | undefined;
  save(): void;
}

/** Opens a font. @returns undefined for one that is not TrueType. */
export function openFont(file: PdfFile, number: number): EmbeddedFont | undefined {
  const referred = (text: string, name: string) => {
    const found = new RegExp(`/${name} \\[?(\\d+) 0 R`).exec(text)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const font = file.textOf(number);
  const [descendant, toUnicode] = [referred(font, 'DescendantFonts'), referred(font, 'ToUnicode')];
  if (descendant === undefined || toUnicode === undefined) return undefined;
  const widths = file.textOf(descendant);
  const descriptor = referred(widths, 'FontDescriptor');
  const program = descriptor === undefined ? undefined : referred(file.textOf(descriptor), 'FontFile2');
  if (program === undefined || !widths.includes('/W [')) return undefined;
  const trueType = readTrueType(file.streamOf(program));
  const codes = new Map<string, number>();
  const added: CompositeGlyph[] = [];
  const mappings: string[] = [];
  const map = file.streamOf(toUnicode).toString('latin1');
  let texts: Map<string, string> | undefined;

  return {
    unitsPerEm: trueType.unitsPerEm,
    advanceOf: trueType.advanceOf,
    textOf(code) {
      texts ??= textsIn(map);
      return texts.get(code);
    },
    codeOf(glyph, text) {
      const key = `${text} ${JSON.stringify(glyph)}`;
      const code = codes.get(key) ?? trueType.glyphs + added.length;
      if (code > HIGHEST_CODE) return undefined;
      if (!codes.has(key)) {
        if (!trueType.canHold(glyph)) return undefined;
        codes.set(key, code);
        added.push(glyph);
        mappings.push(`<${hexCode(code)}> <${asDrawn(text)}>`);
      }
      return code;
    },
    save() {
      if (added.length === 0) return;
      const changed = trueType.with(added);
      file.replaceStream(program, changed, { Length1: changed.length });
      const advances = added.map(({ advance }) => Math.round((advance / trueType.unitsPerEm) * 1_000));
      file.replaceText(descendant, widths.replace('/W [', `/W [${trueType.glyphs} [${advances.join(' ')}] `));
      file.replaceStream(toUnicode, Buffer.from(map.replace('endcmap', `${listed(mappings)}endcmap`), 'latin1'));
    },
  };
}

/** Reads single codes and ranges of codes that stand for consecutive characters. */
function textsIn(map: string): Map<string, string> {
  const texts = new Map([...map.matchAll(/^<(\w{4})> <(\w+)>$/gm)].map(([, code = '', text = '']) => [code, text]));
  for (const [, from = '', to = '', text = ''] of map.matchAll(/^<(\w{4})> <(\w{4})> <(\w{4})>$/gm)) {
    const [first, last, character] = [from, to, text].map((digits) => Number.parseInt(digits, 16)) as [
      number,
      number,
      number,
    ];
    for (let code = first; code <= last; code += 1) texts.set(hexCode(code), hexCode(character + code - first));
  }
  return texts;
}

function listed(mappings: string[]): string {
  let lists = '';
  for (let at = 0; at < mappings.length; at += MAPPINGS_MOST) {
    const list = mappings.slice(at, at + MAPPINGS_MOST);
    lists += `${list.length} beginbfchar\n${list.join('\n')}\nendbfchar\n`;
  }
  return lists;
}

export const hexCode = (code: number) => code.toString(16).toUpperCase().padStart(4, '0');

/** True for text from right to left. @param digits UTF-16 in hexadecimal, as PDF files have it. */
export function isFromRightToLeft(digits: string): boolean {
  return FROM_RIGHT_TO_LEFT.test(textOf(digits));
}

function textOf(digits: string): string {
  return Buffer.from(digits, 'hex').swap16().toString('utf16le');
}

/**
 * Reverses text from right to left, because readers reverse it character by character, even the characters of one
 * glyph.
 */
function asDrawn(digits: string): string {
  if (!isFromRightToLeft(digits)) return digits;
  return Buffer.from(Array.from(textOf(digits)).toReversed().join(''), 'utf16le')
    .swap16()
    .toString('hex')
    .toUpperCase();
}
