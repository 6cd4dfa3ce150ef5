// Makes text in complex scripts findable. Where several glyphs stand for one cluster of characters, Chromium writes the characters
// beside them (ActualText), which half of the readers ignore: here each cluster becomes one glyph, whose characters every reader knows.
import { type CompositeGlyph, readTrueType, type TrueTypeFont } from '../fonts/composite-glyphs.ts';
import { type PdfFile, readPdfFile, UnknownForm, unexpected } from './pdf-file.ts';

const CLUSTER = '/Span<</ActualText <';
/** A font is chosen, or a cluster begins and ends. */
const STEPS = /\/(F\d+) (\S+) Tf\n|\/Span<<\/ActualText <FEFF([0-9A-F]+)> >> BDC\n([\s\S]*?)EMC\n/g;
/** A font is chosen, a joiner or non-joiner is shown, another cluster begins, or glyphs are shown. */
const SHOWN =
  /\/(F\d+) (\S+) Tf\n|\/Span<<\/ActualText <FEFF(200[CD])> >> BDC\n([^<]*)<[0-9A-F]+> Tj\nEMC\n|\/Span<<\/ActualText <FEFF([0-9A-F]+)> >> BDC\n|<([0-9A-F]+)> Tj\n/g;
const SHOWS_NOTHING = /BT\n(?:\/F\d+ \S+ Tf\n|[-.\d ]+ Tm\n|[-.\d ]+ Td\n)*ET\n/g;
/** Two texts from right to left in the same font on the same line, one right behind the other. */
const TORN =
  /BT\n(\/ReversedChars BMC\n\/F\d+ \S+ Tf\n[-.\d ]+ Tm\n)((?:(?!EMC\nET\n)[\s\S])*)EMC\nET\nBT\n\1(\S+) (\S+) Td /g;
/** A place where a word could have been broken: readers would copy it. */
const SOFT_HYPHEN = /\/Span<<\/ActualText <FEFF00AD> >> BDC\n([^<]*)<[0-9A-F]+> Tj\nEMC\n/g;
const FROM_RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const HIGHEST_CODE = 0xff_ff;
/** In one list of a map of characters (Adobe Technical Note 5014). */
const MAPPINGS_MOST = 100;

/** @returns the same file when there is nothing to do, or when it is built in an unknown way: then it is found as Chromium writes it. */
export function withFindableClusters(pdf: Buffer): Buffer {
  try {
    const file = readPdfFile(pdf);
    const fonts = new Map<number, EmbeddedFont | undefined>();
    for (const number of file.numbers) {
      const page = file.textOf(number);
      if (/^<<\/Type \/Page\n/.test(page)) rewritePage(file, page, fonts);
    }
    for (const font of fonts.values()) font?.save();
    return file.toBuffer();
  } catch (error) {
    if (error instanceof UnknownForm) return pdf;
    throw error;
  }
}

function rewritePage(file: PdfFile, page: string, fonts: Map<number, EmbeddedFont | undefined>) {
  const contents = Number(/\/Contents (\d+) 0 R/.exec(page)?.[1] ?? unexpected());
  const content = file.streamOf(contents).toString('latin1');
  if (!content.includes(CLUSTER)) return;
  const named = new Map([...page.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name, number]) => [name, Number(number)]));
  let chosen: { font: EmbeddedFont | undefined; size: number } = { font: undefined, size: 0 };
  const choose = (name: string, size: string) => {
    const number = named.get(name) ?? unexpected();
    if (!fonts.has(number)) fonts.set(number, openFont(file, number));
    chosen = { font: fonts.get(number), size: Number(size) };
  };
  const visible = content.replaceAll(SOFT_HYPHEN, (_all, move: string) => move.replace(/(Td) $/, '$1\n'));
  const joined = withJoinersMarked(visible, choose, () => chosen.font);
  const rewritten = joined.replaceAll(STEPS, (step, name?: string, size?: string, text = '', shown = '') => {
    if (name !== undefined && size !== undefined) {
      choose(name, size);
      return step;
    }
    for (const [, inner = '', innerSize = ''] of shown.matchAll(/\/(F\d+) (\S+) Tf\n/g)) choose(inner, innerSize);
    return (chosen.font && asOneGlyph(shown, text, chosen.font, chosen.size)) ?? step;
  });
  if (rewritten !== content) file.replaceStream(contents, Buffer.from(rewritten, 'latin1'));
}

/**
 * A joiner between letters from right to left is a glyph of its own, often of another face. It draws nothing, and half of the readers
 * drop it: it is left out, and the glyph drawn behind it, which is the letter in front of it, says both.
 */
function withJoinersMarked(
  content: string,
  choose: (name: string, size: string) => void,
  font: () => EmbeddedFont | undefined,
): string {
  let joiner = '';
  let last = '';
  const marked = content.replaceAll(SHOWN, (step, ...found: (string | undefined)[]) => {
    const [name, size, joined, move, text, codes = ''] = found;
    if (name !== undefined && size !== undefined) {
      choose(name, size);
      return step;
    }
    if (joined !== undefined) {
      if (!isFromRightToLeft(last)) return step;
      joiner = joined;
      return move?.replace(/(Td) $/, '$1\n') ?? '';
    }
    const said = joiner;
    joiner = '';
    last = text ?? font()?.textOf(codes.slice(0, 4)) ?? '';
    if (!said || !isFromRightToLeft(last)) return step;
    if (text !== undefined) return `${CLUSTER}FEFF${text}${said}> >> BDC\n`;
    const rest = codes.length > 4 ? `<${codes.slice(4)}> Tj\n` : '';
    return `${CLUSTER}FEFF${last}${said}> >> BDC\n<${codes.slice(0, 4)}> Tj\nEMC\n${rest}`;
  });
  return marked === content ? content : inOnePiece(marked.replaceAll(SHOWS_NOTHING, ''));
}

/** What was drawn on both sides of a joiner is one piece: readers make two words of two. */
function inOnePiece(content: string): string {
  const whole = content.replaceAll(TORN, (_torn, head: string, drawing: string, x: string, y: string) => {
    let [right, up] = [Number(x), Number(y)];
    for (const [, stepX, stepY] of drawing.matchAll(/(\S+) (\S+) Td/g)) {
      right -= Number(stepX);
      up -= Number(stepY);
    }
    return `BT\n${head}${drawing}${moved(right, up).trimEnd()} `;
  });
  return whole === content ? content : inOnePiece(whole);
}

interface Placed {
  glyph: number;
  x: number;
  y: number;
}

/** @returns undefined when the cluster is drawn in a way that one glyph cannot have. */
function asOneGlyph(shown: string, text: string, font: EmbeddedFont, size: number): string | undefined {
  const first = shown.search(/<[0-9A-F]+> Tj\n/);
  const [before, drawing] = [shown.slice(0, first), shown.slice(first)];
  const isKnown = /^(?:(?:\S+ \S+ Td )?<(?:[0-9A-F]{4})+> Tj\n)+$/.test(drawing);
  if (first < 0 || !isKnown || (before.match(/Tf/g)?.length ?? 0) > 1) return undefined;
  const { placed, line } = placedGlyphs(drawing, font, size);
  const advancing = placed.filter(({ glyph }) => font.advanceOf(glyph) > 0).toSorted((one, other) => one.x - other.x);
  const origin = advancing[0] ?? placed[0];
  if (!origin) return undefined;
  const units = (length: number) => Math.round((length / size) * font.unitsPerEm);
  const components = placed.map(({ glyph, x, y }) => ({ glyph, x: units(x - origin.x), y: units(y - origin.y) }));
  const advance = Math.max(0, ...advancing.map(({ glyph, x }) => units(x - origin.x) + font.advanceOf(glyph)));
  const code = font.codeOf({ components, advance }, text);
  if (code === undefined) return undefined;
  return `${before}${moved(origin.x, origin.y)}<${hex(code)}> Tj\n${moved(line.x - origin.x, line.y - origin.y)}`;
}

/** From where the first glyph stands. @returns where the line begins after the last one, from which the next step counts. */
function placedGlyphs(drawing: string, font: EmbeddedFont, size: number) {
  const placed: Placed[] = [];
  const line = { x: 0, y: 0 };
  for (const [, x = '0', y = '0', codes = ''] of drawing.matchAll(/(?:(\S+) (\S+) Td )?<([0-9A-F]+)> Tj\n/g)) {
    line.x += Number(x);
    line.y += Number(y);
    let offset = 0;
    for (const [code] of codes.matchAll(/.{4}/g)) {
      const glyph = Number.parseInt(code, 16);
      placed.push({ glyph, x: line.x + offset, y: line.y });
      offset += (font.advanceOf(glyph) / font.unitsPerEm) * size;
    }
  }
  return { placed, line };
}

function moved(x: number, y: number): string {
  const [right, up] = [x, y].map((length) => Number(length.toFixed(5)));
  return right === 0 && up === 0 ? '' : `${right} ${up} Td\n`;
}

function isFromRightToLeft(text: string): boolean {
  return FROM_RIGHT_TO_LEFT.test(textOf(text));
}

/** @param digits of UTF-16, as files have it. */
function textOf(digits: string): string {
  return Buffer.from(digits, 'hex').swap16().toString('utf16le');
}

/** Readers turn what runs from right to left round, character by character: those of one glyph as well. */
function asDrawn(digits: string): string {
  if (!isFromRightToLeft(digits)) return digits;
  return Buffer.from(Array.from(textOf(digits)).toReversed().join(''), 'utf16le')
    .swap16()
    .toString('hex')
    .toUpperCase();
}

interface EmbeddedFont extends Pick<TrueTypeFont, 'unitsPerEm' | 'advanceOf'> {
  /** @param code of a glyph. @returns UTF-16 in hexadecimal digits. */
  textOf(code: string): string | undefined;
  /** @param text UTF-16 in hexadecimal digits. @returns undefined when the font is full. */
  codeOf(glyph: CompositeGlyph, text: string): number | undefined;
  save(): void;
}

/** @returns undefined for a font that is not TrueType. */
function openFont(file: PdfFile, number: number): EmbeddedFont | undefined {
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
        codes.set(key, code);
        added.push(glyph);
        mappings.push(`<${hex(code)}> <${asDrawn(text)}>`);
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

/** Of single codes, and of ranges of codes that stand for consecutive characters. */
function textsIn(map: string): Map<string, string> {
  const texts = new Map([...map.matchAll(/^<(\w{4})> <(\w+)>$/gm)].map(([, code = '', text = '']) => [code, text]));
  for (const [, from = '', to = '', text = ''] of map.matchAll(/^<(\w{4})> <(\w{4})> <(\w{4})>$/gm)) {
    const [first, last, character] = [from, to, text].map((digits) => Number.parseInt(digits, 16)) as [
      number,
      number,
      number,
    ];
    for (let code = first; code <= last; code += 1) texts.set(hex(code), hex(character + code - first));
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

const hex = (code: number) => code.toString(16).toUpperCase().padStart(4, '0');
