// Makes the times and the names of nodes in a PDF of Chromium reproducible: the same content gives the same bytes.
import { offsetOf, trailerOf, unexpected } from '#libs/pdf/structure.ts';

/**
 * The names of nodes, which Chromium numbers across all documents of a page. It matches only positions of names,
 * because a text may look like one.
 */
const NODE = /(?<=\/ID |[[R)] ?)\(node\d{8}\)/g;

/**
 * Changes the file in place: everything keeps its length.
 * @param madeAt the time of creation in milliseconds since the epoch.
 * @throws UnknownForm
 */
export function makeReproducible(pdf: Buffer, madeAt: number): void {
  const { info, xrefAt } = trailerOf(pdf);
  fixTimes(pdf, offsetOf(pdf, xrefAt, info), madeAt);
  renumberNodes(pdf);
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
