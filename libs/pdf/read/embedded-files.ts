// Lists the files inside a PDF of others (ISO 32000-1, 7.11.4), and unpacks the one that is asked for.
import { readTextBytes } from '../text-string.ts';
import type { OpenPdf } from './open-pdf.ts';
import { BrokenPdf, type PdfDictionary, type PdfObject, PdfRef, PdfStream } from './parse-object.ts';

export interface FileInPdf {
  /** A text as the sender wrote it, never a path. */
  name: string | null;
  description: string | null;
  /** How it relates to the pages, such as `Alternative`. */
  relationship: string | null;
  mediaType: string | null;
  /** The size that the sender says. */
  sizeBytes: number | null;
  /** Undefined for a file that stands elsewhere. */
  content: PdfStream | undefined;
}

const FILES_MAX = 200;
/** Nodes of the tree of names. */
const NODES_MAX = 2_000;
/** Characters of a text that is shown. */
const SHOWN = 1_000;

/** @throws BrokenPdf, BudgetExceeded. */
export function embeddedFiles({ catalogue, resolved }: OpenPdf): FileInPdf[] {
  const files: FileInPdf[] = [];
  const seen = new Set<number>();
  const names = dictionaryOf(catalogue.get('Names'));
  const nodes: PdfObject[] = [names?.get('EmbeddedFiles') ?? null];
  for (let count = 0; nodes.length > 0; count += 1) {
    if (count === NODES_MAX) throw new BrokenPdf('a tree of names that is too large');
    const node = dictionaryOf(nodes.shift());
    if (!node) continue;
    nodes.push(...arrayOf(node.get('Kids')).slice(0, NODES_MAX));
    // Keys and values alternate.
    for (const [index, specification] of arrayOf(node.get('Names')).entries()) if (index % 2 === 1) add(specification);
  }
  for (const specification of arrayOf(catalogue.get('AF'))) add(specification);
  return files;

  /** Adds a file once, though it stands in the tree of names and among the associated files. */
  function add(specification: PdfObject) {
    if (specification instanceof PdfRef) {
      if (seen.has(specification.number)) return;
      seen.add(specification.number);
    }
    const entries = dictionaryOf(specification);
    if (!entries) return;
    if (files.length === FILES_MAX) throw new BrokenPdf(`more than ${FILES_MAX} files in it`);
    const places = dictionaryOf(entries.get('EF'));
    const content = resolved(places?.get('F') ?? places?.get('UF'));
    const stream = content instanceof PdfStream ? content : undefined;
    if (stream && files.some((file) => file.content?.start === stream.start)) return;
    const size = resolved(dictionaryOf(stream?.entries.get('Params'))?.get('Size'));
    files.push({
      name: textOf(entries.get('UF')) ?? textOf(entries.get('F')),
      description: textOf(entries.get('Desc')),
      relationship: nameOf(entries.get('AFRelationship')),
      mediaType: nameOf(stream?.entries.get('Subtype')),
      sizeBytes: typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : null,
      content: stream,
    });
  }

  function dictionaryOf(object: PdfObject | undefined): PdfDictionary | undefined {
    const value = resolved(object);
    return value instanceof Map ? value : undefined;
  }
  function arrayOf(object: PdfObject | undefined): PdfObject[] {
    const value = resolved(object);
    return Array.isArray(value) ? value : [];
  }
  function textOf(object: PdfObject | undefined): string | null {
    const value = resolved(object);
    return Buffer.isBuffer(value) ? readTextBytes(value).slice(0, SHOWN).toWellFormed() || null : null;
  }
  function nameOf(object: PdfObject | undefined): string | null {
    const value = resolved(object);
    return typeof value === 'string' ? value : null;
  }
}
