// Opens a PDF of others: finds its objects by cross-reference tables and streams (ISO 32000-1, 7.5), and unpacks streams within a budget.
import { constants, inflateSync } from 'node:zlib';
import { BrokenPdf, type PdfDictionary, type PdfObject, PdfParser, PdfRef, PdfStream } from './parse-object.ts';

/** The error for a file that only its password opens. */
export class EncryptedPdf extends Error {}
/** The error for a file that unpacks to more than its budget. */
export class BudgetExceeded extends Error {}

export interface OpenPdf {
  catalogue: PdfDictionary;
  /** Returns the object that a reference names, or the object itself. Null is an object that is not there. @throws BrokenPdf. */
  resolved(object: PdfObject | undefined): PdfObject;
  /** Returns the unpacked bytes of a stream. @throws BrokenPdf, BudgetExceeded. */
  unpacked(stream: PdfStream): Buffer;
}

/** The header may stand behind this many other bytes, and all places count from it. */
const HEADER_WITHIN = 1024;
/** The place of the newest table stands within this many bytes of the end. */
const TRAILER_WITHIN = 2048;
/** Updates of a file, each with a table of its own. */
const SECTIONS_MAX = 1_000;
/** A reference to a reference is not allowed, but seen. */
const STEPS_MAX = 8;
/** An object in a table: ten digits, a space, five digits, a space, a letter, and two bytes of line end. */
const ENTRY_BYTES = 20;
const ENTRY = /^(\d{10}) (\d{5}) ([nf])/;

/** Where an object is: at a place, or in a stream of objects. */
type Place = { at: number } | { stream: number } | undefined;

/** Finds an object in one table. It looks up and keeps no copy, so a table of millions costs nothing. Undefined: look into an older one. */
type Section = (number: number) => { place: Place } | undefined;

/** Returns the place of the header, or undefined for a file that is no PDF. */
export function headerOf(bytes: Buffer): number | undefined {
  const at = bytes.subarray(0, HEADER_WITHIN).indexOf('%PDF-');
  return at < 0 ? undefined : at;
}

/** @param budget bytes that all streams together may unpack to. @throws BrokenPdf, EncryptedPdf, BudgetExceeded. */
export function openPdf(file: Buffer, budget: number): OpenPdf {
  const pdf = file.subarray(headerOf(file) ?? 0);
  const sections: Section[] = [];
  const objectStreams = new Map<number, Map<number, PdfObject>>();
  const opening = new Set<number>();
  let left = budget;

  const trailer = readSections();
  if (trailer.has('Encrypt')) throw new EncryptedPdf();
  const catalogue = resolved(trailer.get('Root'));
  if (!(catalogue instanceof Map)) throw new BrokenPdf('it has no catalogue');
  return { catalogue, resolved, unpacked };

  function resolved(object: PdfObject | undefined): PdfObject {
    let value = object ?? null;
    for (let step = 0; value instanceof PdfRef; step += 1) {
      if (step === STEPS_MAX) throw new BrokenPdf('references in a circle');
      value = objectAt(value.number);
    }
    return value;
  }

  function objectAt(number: number): PdfObject {
    for (const find of sections) {
      const found = find(number);
      if (!found) continue;
      if (!found.place) return null;
      if ('at' in found.place) return new PdfParser(pdf, found.place.at).indirect(number);
      return objectsIn(found.place.stream).get(number) ?? null;
    }
    return null;
  }

  function objectsIn(stream: number): Map<number, PdfObject> {
    const known = objectStreams.get(stream);
    if (known) return known;
    if (opening.has(stream)) throw new BrokenPdf('streams of objects in a circle');
    opening.add(stream);
    const container = objectAt(stream);
    if (!(container instanceof PdfStream)) throw new BrokenPdf('a stream of objects is missing');
    const first = wholeNumber(container.entries.get('First'));
    const bytes = unpacked(container);
    const heads = new PdfParser(bytes);
    const objects = new Map<number, PdfObject>();
    const places: [number, number][] = [];
    for (let left = wholeNumber(container.entries.get('N')); left > 0; left -= 1) {
      places.push([wholeNumber(heads.object()), wholeNumber(heads.object())]);
    }
    for (const [number, at] of places) objects.set(number, new PdfParser(bytes, first + at).object());
    objectStreams.set(stream, objects);
    return objects;
  }

  function wholeNumber(object: PdfObject | undefined): number {
    const value = resolved(object);
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
      throw new BrokenPdf('no number where one has to be');
    return value;
  }

  function unpacked({ entries, start }: PdfStream): Buffer {
    if (entries.has('F')) throw new BrokenPdf('a stream in another file');
    const length = wholeNumber(entries.get('Length'));
    if (start + length > pdf.length) throw new BrokenPdf('a stream without an end');
    const filters = listOf(entries.get('Filter'));
    const parameters = listOf(entries.get('DecodeParms'));
    let bytes = pdf.subarray(start, start + length);
    for (const [index, filter] of filters.entries()) {
      if (filter !== 'FlateDecode') throw new BrokenPdf('a packing that is not read here');
      bytes = withoutPrediction(inflated(bytes), parameters[index]);
    }
    return bytes;
  }

  /** Ends at the budget, whatever the packed size is. Other readers forgive a missing checksum, so it is not asked for. */
  function inflated(packed: Buffer): Buffer {
    try {
      const bytes = inflateSync(packed, { maxOutputLength: Math.max(1, left), finishFlush: constants.Z_SYNC_FLUSH });
      left -= bytes.length;
      return bytes;
    } catch (error) {
      if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw new BudgetExceeded();
      throw new BrokenPdf('a stream that cannot be unpacked');
    }
  }

  function withoutPrediction(bytes: Buffer, given: PdfObject | undefined): Buffer {
    if (!(given instanceof Map)) return bytes;
    const numberOf = (name: string, standard: number) => (given.has(name) ? wholeNumber(given.get(name)) : standard);
    const predictor = numberOf('Predictor', 1);
    if (predictor === 1) return bytes;
    if (predictor < 10) throw new BrokenPdf('a packing that is not read here');
    const bits = numberOf('Colors', 1) * numberOf('BitsPerComponent', 8);
    return withoutRowFilters(bytes, Math.ceil((bits * numberOf('Columns', 1)) / 8), Math.ceil(bits / 8));
  }

  function listOf(object: PdfObject | undefined): PdfObject[] {
    const value = resolved(object);
    if (value === null) return [];
    return Array.isArray(value) ? value.map(resolved) : [value];
  }

  /** Reads the tables from the newest to the oldest. @returns the newest trailer. */
  function readSections(): PdfDictionary {
    const end = pdf.toString('latin1', Math.max(0, pdf.length - TRAILER_WITHIN));
    const named = /startxref\s+(\d{1,15})(?![\s\S]*startxref)/.exec(end)?.[1];
    if (named === undefined) throw new BrokenPdf('it does not say where its table of objects is');
    const seen = new Set<number>();
    const waiting = [Number(named)];
    let newest: PdfDictionary | undefined;
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      if (seen.size > SECTIONS_MAX) throw new BrokenPdf(`more than ${SECTIONS_MAX} tables of objects`);
      const entries = readSection(at);
      newest ??= entries;
      // A hybrid file has a second table for the objects in streams, which comes before the older ones.
      for (const name of ['Prev', 'XRefStm']) if (entries.has(name)) waiting.push(placeIn(entries, name));
    }
    return newest as PdfDictionary;
  }

  function placeIn(entries: PdfDictionary, name: string): number {
    const value = entries.get(name);
    // The tables are not complete yet, so no reference may stand here.
    if (typeof value !== 'number') throw new BrokenPdf('no number where one has to be');
    return value;
  }

  function readSection(at: number): PdfDictionary {
    const parser = new PdfParser(pdf, at);
    if (parser.word() === 'xref') return readTable(parser);
    const number = new PdfParser(pdf, at).object();
    const stream = typeof number === 'number' ? new PdfParser(pdf, at).indirect(number) : null;
    if (!(stream instanceof PdfStream) || stream.entries.get('Type') !== 'XRef')
      throw new BrokenPdf('no table of objects where it says');
    return readTableStream(stream);
  }

  function readTable(parser: PdfParser): PdfDictionary {
    const parts: { first: number; count: number; at: number }[] = [];
    for (;;) {
      const word = parser.word();
      if (word === 'trailer') break;
      const [first, count] = [Number(word), Number(parser.word())];
      if (!Number.isSafeInteger(first) || !Number.isSafeInteger(count))
        throw new BrokenPdf('a table of objects that is cut off');
      // The first entry begins behind the line end.
      while ([0x20, 0x0d, 0x0a].includes(pdf[parser.at] ?? 0)) parser.at += 1;
      parts.push({ first, count, at: parser.at });
      parser.at += count * ENTRY_BYTES;
      if (parser.at > pdf.length) throw new BrokenPdf('a table of objects that is cut off');
    }
    const trailer = parser.object();
    if (!(trailer instanceof Map)) throw new BrokenPdf('a table of objects without its trailer');
    sections.push((number) => {
      const part = parts.find(({ first, count }) => number >= first && number < first + count);
      if (!part) return undefined;
      const at = part.at + (number - part.first) * ENTRY_BYTES;
      const [, place, , kind] = ENTRY.exec(pdf.toString('latin1', at, at + ENTRY_BYTES)) ?? [];
      if (kind === undefined) throw new BrokenPdf('a table of objects with another form');
      if (kind === 'n') return { place: { at: Number(place) } };
      // In a hybrid file the second table has the object.
      return trailer.has('XRefStm') ? undefined : { place: undefined };
    });
    return trailer;
  }

  function readTableStream(stream: PdfStream): PdfDictionary {
    const { entries } = stream;
    const widths = listOf(entries.get('W')).map(wholeNumber);
    const [kindWidth = 0, placeWidth = 0, lastWidth = 0] = widths;
    const width = kindWidth + placeWidth + lastWidth;
    if (widths.length !== 3 || width === 0 || widths.some((one) => one > 6))
      throw new BrokenPdf('a table of objects with another form');
    const index = entries.has('Index')
      ? listOf(entries.get('Index')).map(wholeNumber)
      : [0, wholeNumber(entries.get('Size'))];
    const rows = unpacked(stream);
    const numberAt = (at: number, size: number, standard: number) =>
      size === 0 ? standard : rows.readUIntBE(at, size);
    sections.push((number) => {
      let row = 0;
      for (let part = 0; part < index.length; part += 2) {
        const [first = 0, count = 0] = index.slice(part, part + 2);
        if (number >= first && number < first + count) {
          const at = (row + number - first) * width;
          if (at + width > rows.length) return undefined;
          const kind = numberAt(at, kindWidth, 1);
          const place = numberAt(at + kindWidth, placeWidth, 0);
          if (kind === 1) return { place: { at: place } };
          return kind === 2 ? { place: { stream: place } } : { place: undefined };
        }
        row += count;
      }
      return undefined;
    });
    return entries;
  }
}

/** Takes the filters of PNG off rows of bytes (ISO 32000-1, 7.4.4.4). */
function withoutRowFilters(bytes: Buffer, columns: number, pixel: number): Buffer {
  if (columns === 0) throw new BrokenPdf('a packing that is not read here');
  const rows = Math.ceil(bytes.length / (columns + 1));
  const out = Buffer.alloc(rows * columns);
  for (let row = 0; row < rows; row += 1) {
    const filter = bytes[row * (columns + 1)];
    for (let column = 0; column < columns; column += 1) {
      const at = row * columns + column;
      const raw = bytes[row * (columns + 1) + 1 + column] ?? 0;
      const before = column >= pixel ? (out[at - pixel] ?? 0) : 0;
      const above = row > 0 ? (out[at - columns] ?? 0) : 0;
      const corner = row > 0 && column >= pixel ? (out[at - columns - pixel] ?? 0) : 0;
      out[at] = raw + predicted(filter, before, above, corner);
    }
  }
  return out;
}

function predicted(filter: number | undefined, before: number, above: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return before;
  if (filter === 2) return above;
  if (filter === 3) return Math.floor((before + above) / 2);
  if (filter !== 4) throw new BrokenPdf('a packing that is not read here');
  const guess = before + above - corner;
  const [byBefore, byAbove, byCorner] = [Math.abs(guess - before), Math.abs(guess - above), Math.abs(guess - corner)];
  if (byBefore <= byAbove && byBefore <= byCorner) return before;
  return byAbove <= byCorner ? above : corner;
}
