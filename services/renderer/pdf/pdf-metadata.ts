// Adds author and language to a PDF of Chromium, and makes its times and node names reproducible.
import { ENTRY_BYTES, TRAILER_BYTES, UnknownForm, unexpected } from './pdf-file.ts';

export interface Metadata {
  author: string;
  /** A BCP 47 tag. */
  language: string;
  /** The time of creation in milliseconds since the epoch. When it is given, the same content gives the same bytes. */
  madeAt?: number | undefined;
}

/**
 * The names of nodes, which Chromium numbers across all documents of a page. It matches only positions of names,
 * because a text may look like one.
 */
const NODE = /(?<=\/ID |[[R)] ?)\(node\d{8}\)/g;

/**
 * Appends the two changed objects as an incremental update (ISO 32000-1, 7.5.6), so that nothing in front of them
 * moves.
 * @param pdf changed in place where the length stays the same.
 */
export function withMetadata(pdf: Buffer, metadata: Metadata): Buffer {
  try {
    return Buffer.concat([pdf, Buffer.from(updateOf(pdf, metadata), 'latin1')]);
  } catch (error) {
    // A document without these is better than no document.
    if (error instanceof UnknownForm) return pdf;
    throw error;
  }
}

function updateOf(pdf: Buffer, { author, language, madeAt }: Metadata): string {
  const { size, root, info, xrefAt } = trailerOf(pdf);
  if (madeAt !== undefined) {
    fixTimes(pdf, offsetOf(pdf, xrefAt, info), madeAt);
    renumberNodes(pdf);
  }
  const catalogue = dictionaryOf(pdf, offsetOf(pdf, xrefAt, root));
  const objects = [
    { number: info, body: `${dictionaryOf(pdf, offsetOf(pdf, xrefAt, info))}\n/Author ${textString(author)}>>` },
    { number: root, body: `${catalogue}${catalogue.includes('/Lang ') ? '' : `\n/Lang (${language})`}>>` },
  ];
  let update = '\n';
  const table = objects.map(({ number, body }) => {
    const offset = String(pdf.length + update.length).padStart(10, '0');
    update += `${number} 0 obj\n${body}\nendobj\n`;
    return `${number} 1\n${offset} 00000 n \n`;
  });
  const newXrefAt = pdf.length + update.length;
  update += `xref\n${table.join('')}trailer\n<</Size ${size}\n/Root ${root} 0 R\n/Info ${info} 0 R\n/Prev ${xrefAt}>>\n`;
  return `${update}startxref\n${newXrefAt}\n%%EOF\n`;
}

function trailerOf(pdf: Buffer) {
  const text = pdf.toString('latin1', Math.max(0, pdf.length - TRAILER_BYTES));
  const trailer = text.slice(text.lastIndexOf('trailer'));
  const number = (form: RegExp) => Number(form.exec(trailer)?.[1] ?? unexpected());
  return {
    size: number(/\/Size (\d+)/),
    root: number(/\/Root (\d+) 0 R/),
    info: number(/\/Info (\d+) 0 R/),
    xrefAt: number(/startxref\s+(\d+)/),
  };
}

function offsetOf(pdf: Buffer, xrefAt: number, object: number): number {
  const head = /^xref\n0 \d+\n/.exec(pdf.toString('latin1', xrefAt, xrefAt + 30))?.[0] ?? unexpected();
  const entryAt = xrefAt + head.length + object * ENTRY_BYTES;
  return Number(pdf.toString('latin1', entryAt, entryAt + 10));
}

/** Returns the object's dictionary without its closing brackets. */
function dictionaryOf(pdf: Buffer, offset: number): string {
  const end = pdf.indexOf('>>\nendobj', offset, 'latin1');
  if (end < 0) unexpected();
  const text = pdf.toString('latin1', offset, end);
  return text.slice(text.indexOf('<<'));
}

function fixTimes(pdf: Buffer, infoAt: number, madeAt: number) {
  const digits = new Date(madeAt).toISOString().replaceAll(/\D/g, '').slice(0, 14);
  for (const name of ['CreationDate', 'ModDate']) {
    const at = pdf.indexOf(`/${name} (D:`, infoAt, 'latin1');
    if (at < 0) unexpected();
    pdf.write(`/${name} (D:${digits}+00'00')`, at, 'latin1');
  }
}

/** Renumbers nodes in order, so that the sorted name tree stays sorted. */
function renumberNodes(pdf: Buffer) {
  if (!pdf.includes('/StructTreeRoot')) return;
  const places = [...pdf.toString('latin1').matchAll(NODE)];
  const names = [...new Set(places.map(([name]) => name))].toSorted();
  const order = new Map(names.map((name, index) => [name, `(node${String(index + 1).padStart(8, '0')})`]));
  for (const { 0: name, index } of places) pdf.write(order.get(name) ?? name, index, 'latin1');
}

/**
 * Writes a text string (ISO 32000-1, 7.9.2.2): ASCII as it is, everything else as hexadecimal UTF-16 with a byte order
 * mark.
 */
function textString(text: string): string {
  if (/^[ -~]*$/.test(text)) return `(${text.replaceAll(/[\\()]/g, '\\$&')})`;
  return `<FEFF${Buffer.from(text, 'utf16le').swap16().toString('hex').toUpperCase()}>`;
}
