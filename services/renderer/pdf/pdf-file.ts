// Reads and rewrites the objects of a PDF of Chromium's structure: one cross-reference table, streams deflated or plain.
import { deflateSync, inflateSync } from 'node:zlib';
import { ENTRY_BYTES, TRAILER_BYTES, unexpected } from '#libs/pdf/structure.ts';

export interface PdfFile {
  /** The numbers of all objects, in file order. */
  numbers: number[];
  /** Returns the object without its number: its dictionary and the rest. */
  textOf(number: number): string;
  /** Returns the inflated stream. */
  streamOf(number: number): Buffer;
  replaceText(number: number, text: string): void;
  /** Adds an object without a stream. @returns its number. */
  add(text: string): number;
  /** Replaces a stream. @param entries changed entries of its dictionary besides the length. */
  replaceStream(number: number, content: Buffer, entries?: Record<string, number>): void;
  toBuffer(): Buffer;
}

const STREAM = '>> stream\n';

/** Returns the number of pages of a file that Chromium printed, whose dictionaries are plain. */
export function pageCount(pdf: Buffer): number {
  return pdf.toString('latin1').match(/\/Type \/Page\n/g)?.length ?? 0;
}

/** Reads a file. @throws UnknownForm */
export function readPdfFile(pdf: Buffer): PdfFile {
  const end = pdf.toString('latin1', Math.max(0, pdf.length - TRAILER_BYTES));
  const trailer = end.slice(end.lastIndexOf('trailer\n'), end.lastIndexOf('startxref'));
  const tableAt = Number(/startxref\s+(\d+)/.exec(end)?.[1] ?? unexpected());
  const offsets = offsetsIn(pdf, tableAt);
  const order = [...offsets.keys()].toSorted((one, other) => (offsets.get(one) ?? 0) - (offsets.get(other) ?? 0));
  const ends = new Map(order.map((number, index) => [number, offsets.get(order[index + 1] ?? -1) ?? tableAt]));
  const replaced = new Map<number, Buffer>();

  const bytesOf = (number: number) =>
    replaced.get(number) ?? pdf.subarray(offsets.get(number) ?? unexpected(), ends.get(number));
  const textOf = (number: number) => {
    const bytes = bytesOf(number);
    const streamAt = bytes.indexOf(STREAM, 0, 'latin1');
    const text = bytes.toString('latin1', 0, streamAt < 0 ? bytes.length : streamAt + 2);
    return text.slice(text.indexOf('obj\n') + 4).replace(/\s*endobj\s*$/, '');
  };

  const replaceText = (number: number, text: string) => {
    replaced.set(number, Buffer.from(`${number} 0 obj\n${text}\nendobj\n`, 'latin1'));
  };

  return {
    numbers: order,
    textOf,
    streamOf(number) {
      const bytes = bytesOf(number);
      const startAt = bytes.indexOf(STREAM, 0, 'latin1') + STREAM.length;
      if (startAt < STREAM.length) unexpected();
      const text = textOf(number);
      const length = Number(/\/Length (\d+)/.exec(text)?.[1] ?? unexpected());
      const content = bytes.subarray(startAt, startAt + length);
      if (text.includes('/Filter /FlateDecode')) return inflateSync(content);
      return text.includes('/Filter') ? unexpected() : content;
    },
    replaceText,
    add(text) {
      const number = order.length + 1;
      order.push(number);
      replaceText(number, text);
      return number;
    },
    replaceStream(number, content, entries = {}) {
      const deflated = deflateSync(content);
      let text = textOf(number);
      if (!text.includes('/Filter')) text = text.replace('<<', '<</Filter /FlateDecode\n');
      for (const [name, value] of Object.entries({ ...entries, Length: deflated.length })) {
        text = text.replace(new RegExp(`/${name} \\d+`), `/${name} ${value}`);
      }
      const head = Buffer.from(`${number} 0 obj\n${text} stream\n`, 'latin1');
      replaced.set(number, Buffer.concat([head, deflated, Buffer.from('\nendstream\nendobj\n', 'latin1')]));
    },
    toBuffer() {
      if (replaced.size === 0) return pdf;
      const parts = [pdf.subarray(0, offsets.get(order[0] ?? 0))];
      let at = parts[0]?.length ?? 0;
      const entries = new Map<number, string>();
      for (const number of order) {
        const bytes = bytesOf(number);
        entries.set(number, `${String(at).padStart(10, '0')} 00000 n \n`);
        parts.push(bytes);
        at += bytes.length;
      }
      const table = [...entries].toSorted(([one], [other]) => one - other).map(([, entry]) => entry);
      const size = table.length + 1;
      const head = `xref\n0 ${size}\n0000000000 65535 f \n`;
      const end = trailer.replace(/\/Size \d+/, `/Size ${size}`);
      parts.push(Buffer.from(`${head}${table.join('')}${end}startxref\n${at}\n%%EOF\n`, 'latin1'));
      return Buffer.concat(parts);
    },
  };
}

/** Returns offsets by object number. The numbers have no gaps. */
function offsetsIn(pdf: Buffer, tableAt: number): Map<number, number> {
  const head = /^xref\n0 (\d+)\n/.exec(pdf.toString('latin1', tableAt, tableAt + 30)) ?? unexpected();
  const offsets = new Map<number, number>();
  for (let number = 1; number < Number(head[1]); number += 1) {
    const at = tableAt + head[0].length + number * ENTRY_BYTES;
    const entry = /^(\d{10}) 00000 n $/m.exec(pdf.toString('latin1', at, at + ENTRY_BYTES)) ?? unexpected();
    offsets.set(number, Number(entry[1]));
  }
  return offsets;
}
