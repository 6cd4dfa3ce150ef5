// An incremental update of a PDF (ISO 32000-1, 7.5.6): new and changed objects behind the file, so that nothing in front of them moves.
import { createHash } from 'node:crypto';
import { dictionaryAt, offsetOf, trailerOf } from './structure.ts';

export interface PdfUpdate {
  /** The catalogue and the document information, without their closing brackets. Both are written anew. */
  catalogue: string;
  info: string;
  /** Adds an object, or another version of one. @returns its reference. */
  add(body: string | Buffer, number?: number): string;
  /** Adds a stream. @param entries of its dictionary besides the length. */
  addStream(entries: string, content: Buffer, number?: number): string;
  /** Returns the file with the update. The same content gives the same bytes, and the same identifier. */
  toBuffer(): Buffer;
}

/** The digits of a file identifier: 16 bytes. */
const ID_DIGITS = 32;

/** @param pdf is not changed. @throws UnknownForm */
export function openUpdate(pdf: Buffer): PdfUpdate {
  const { size, root, info, xrefAt, id } = trailerOf(pdf);
  const bodies = new Map<number, Buffer>();
  let next = size;

  const update: PdfUpdate = {
    catalogue: dictionaryAt(pdf, offsetOf(pdf, xrefAt, root)),
    info: dictionaryAt(pdf, offsetOf(pdf, xrefAt, info)),
    add(body, number = next++) {
      bodies.set(number, typeof body === 'string' ? Buffer.from(body, 'latin1') : body);
      return `${number} 0 R`;
    },
    addStream(entries, content, number) {
      const head = Buffer.from(`<<${entries}\n/Length ${content.length}>>\nstream\n`, 'latin1');
      return update.add(Buffer.concat([head, content, Buffer.from('\nendstream')]), number);
    },
    toBuffer() {
      update.add(`${update.catalogue}>>`, root);
      update.add(`${update.info}>>`, info);
      const parts = [pdf, Buffer.from('\n')];
      let at = pdf.length + 1;
      let table = '';
      for (const [number, body] of [...bodies].toSorted(([one], [other]) => one - other)) {
        const object = Buffer.concat([Buffer.from(`${number} 0 obj\n`), body, Buffer.from('\nendobj\n')]);
        table += `${number} 1\n${String(at).padStart(10, '0')} 00000 n \n`;
        parts.push(object);
        at += object.length;
      }
      const digest = createHash('sha256');
      for (const part of parts) digest.update(part);
      const changed = digest.digest('hex').slice(0, ID_DIGITS).toUpperCase();
      const trailer = `<</Size ${next}\n/Root ${root} 0 R\n/Info ${info} 0 R\n/ID [<${id ?? changed}> <${changed}>]\n/Prev ${xrefAt}>>`;
      parts.push(Buffer.from(`xref\n${table}trailer\n${trailer}\nstartxref\n${at}\n%%EOF\n`, 'latin1'));
      return Buffer.concat(parts);
    },
  };
  return update;
}
