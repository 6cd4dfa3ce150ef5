// Makes text in complex scripts searchable. Where several glyphs form one cluster of characters, Chromium writes the
// characters beside them (ActualText), which half of the PDF readers ignore. This file turns each cluster into one
// glyph, whose characters every reader knows.
import { UnknownForm, unexpected } from '#libs/pdf/structure.ts';
import { inSlices, type Slices } from '../in-slices.ts';
import { type EmbeddedFont, hexCode, isFromRightToLeft, openFont } from './embedded-font.ts';
import { type PdfFile, readPdfFile } from './pdf-file.ts';

const CLUSTER = '/Span<</ActualText <';
/** Matches the choice of a font, and the begin and end of a cluster. */
const STEPS = /\/(F\d+) (\S+) Tf\n|\/Span<<\/ActualText <FEFF([0-9A-F]+)> >> BDC\n([\s\S]*?)EMC\n/g;
/** Matches the choice of a font, a joiner or non-joiner, another cluster, and glyphs. */
const SHOWN =
  /\/(F\d+) (\S+) Tf\n|\/Span<<\/ActualText <FEFF(200[CD])> >> BDC\n([^<]*)<[0-9A-F]+> Tj\nEMC\n|\/Span<<\/ActualText <FEFF([0-9A-F]+)> >> BDC\n|<([0-9A-F]+)> Tj\n/g;
const SHOWS_NOTHING = /BT\n(?:\/F\d+ \S+ Tf\n|[-.\d ]+ Tm\n|[-.\d ]+ Td\n)*ET\n/g;
/** Matches two texts from right to left in the same font on the same line, one right behind the other. */
const TORN =
  /BT\n(\/ReversedChars BMC\n\/F\d+ \S+ Tf\n[-.\d ]+ Tm\n)((?:(?!EMC\nET\n)[\s\S])*)EMC\nET\nBT\n\1(\S+) (\S+) Td /g;
/** Matches a soft hyphen that was not used as a line break. Readers would copy it. */
const SOFT_HYPHEN = /\/Span<<\/ActualText <FEFF00AD> >> BDC\n([^<]*)<[0-9A-F]+> Tj\nEMC\n/g;

/** Characters that are one glyph each in every face. A soft hyphen is not among them. */
const SIMPLE_TEXT = /^[\0-\u00ac\u00ae-\u024f\u2010-\u2027\u2030-\u203a\u20a0-\u20bf\u2212]*$/;

/**
 * Returns false when no text of the page can have a cluster of several glyphs, as in most documents in Latin letters.
 */
export function mayHaveClusters(html: string): boolean {
  return !SIMPLE_TEXT.test(html);
}

/**
 * Rewrites the clusters of a PDF.
 * @returns the same file when there is nothing to change, or when its structure is unknown.
 */
export async function withFindableClusters(pdf: Buffer): Promise<Buffer> {
  try {
    return await inSlices(rewriting(pdf));
  } catch (error) {
    if (error instanceof UnknownForm) return pdf;
    throw error;
  }
}

function* rewriting(pdf: Buffer): Slices<Buffer> {
  const file = readPdfFile(pdf);
  const fonts = new Map<number, EmbeddedFont | undefined>();
  for (const number of file.numbers) {
    const page = file.textOf(number);
    if (/^<<\/Type \/Page\n/.test(page)) rewritePage(file, page, fonts);
    yield;
  }
  for (const font of fonts.values()) {
    font?.save();
    yield;
  }
  return file.toBuffer();
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
 * Marks joiners. A joiner between letters from right to left is a glyph of its own, often of another face. It draws
 * nothing, and half of the readers drop it. So it is omitted, and the glyph drawn after it, which is the letter before
 * it, stands for both characters.
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
    const omitted = joiner;
    joiner = '';
    last = text ?? font()?.textOf(codes.slice(0, 4)) ?? '';
    if (!omitted || !isFromRightToLeft(last)) return step;
    if (text !== undefined) return `${CLUSTER}FEFF${text}${omitted}> >> BDC\n`;
    const rest = codes.length > 4 ? `<${codes.slice(4)}> Tj\n` : '';
    return `${CLUSTER}FEFF${last}${omitted}> >> BDC\n<${codes.slice(0, 4)}> Tj\nEMC\n${rest}`;
  });
  return marked === content ? content : inOnePiece(marked.replaceAll(SHOWS_NOTHING, ''));
}

/** Joins the text on both sides of a joiner into one piece, because readers take two pieces for two words. */
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

/** Returns the cluster as one glyph, or undefined when that cannot draw it. */
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
  return `${before}${moved(origin.x, origin.y)}<${hexCode(code)}> Tj\n${moved(line.x - origin.x, line.y - origin.y)}`;
}

/** Returns positions relative to the first glyph, and the origin of the line after the last one. */
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
