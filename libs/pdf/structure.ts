// Finds objects in a PDF by its cross-reference tables (ISO 32000-1, 7.5.4 and 7.5.6): those of Chromium and of our own updates.

/** The error for a file with another structure, which must stay as it is. */
export class UnknownForm extends Error {}

/** Reports another structure. @throws UnknownForm */
export function unexpected(): never {
  throw new UnknownForm('The PDF has another structure than expected');
}

/** The size of an entry in the table of objects: ten digits, five digits, a letter and a line end. */
export const ENTRY_BYTES = 20;
/** More than the trailer behind the last object takes. */
export const TRAILER_BYTES = 400;
/** More than the head of a section and the trailer of an earlier update take. */
const SECTION_HEAD_BYTES = 40;

export interface Trailer {
  /** The number of the next new object. */
  size: number;
  /** The number of the catalogue. */
  root: number;
  /** The number of the document information dictionary. */
  info: number;
  xrefAt: number;
  /** The permanent half of the identifier, in hexadecimal digits. */
  id: string | undefined;
}

export function trailerOf(pdf: Buffer): Trailer {
  const text = pdf.toString('latin1', Math.max(0, pdf.length - TRAILER_BYTES));
  const trailer = text.slice(text.lastIndexOf('trailer'));
  const number = (form: RegExp) => Number(form.exec(trailer)?.[1] ?? unexpected());
  return {
    size: number(/\/Size (\d+)/),
    root: number(/\/Root (\d+) 0 R/),
    info: number(/\/Info (\d+) 0 R/),
    xrefAt: number(/startxref\s+(\d+)/),
    id: /\/ID ?\[<([0-9A-F]+)>/.exec(trailer)?.[1],
  };
}

/** Returns the place of an object's newest version. @throws UnknownForm when no table has it. */
export function offsetOf(pdf: Buffer, xrefAt: number, object: number): number {
  if (pdf.toString('latin1', xrefAt, xrefAt + 5) !== 'xref\n') unexpected();
  let at = xrefAt + 5;
  for (;;) {
    const section = /^(\d+) (\d+)\n/.exec(pdf.toString('latin1', at, at + SECTION_HEAD_BYTES));
    if (!section) break;
    const [first, count] = [Number(section[1]), Number(section[2])];
    at += section[0].length;
    if (object >= first && object < first + count) {
      const entryAt = at + (object - first) * ENTRY_BYTES;
      return Number(pdf.toString('latin1', entryAt, entryAt + 10));
    }
    at += count * ENTRY_BYTES;
  }
  const previous = /^trailer\n[^>]*\/Prev (\d+)/.exec(pdf.toString('latin1', at, at + TRAILER_BYTES))?.[1];
  const previousAt = Number(previous ?? unexpected());
  // An update stands behind what it changes.
  return previousAt < xrefAt ? offsetOf(pdf, previousAt, object) : unexpected();
}

/** Returns the object's dictionary without its closing brackets. */
export function dictionaryAt(pdf: Buffer, offset: number): string {
  const end = pdf.indexOf('>>\nendobj', offset, 'latin1');
  if (end < 0) unexpected();
  const text = pdf.toString('latin1', offset, end);
  return text.slice(text.indexOf('<<'));
}
