// Parses XML of others into a small tree, within limits. Nothing is resolved: a document type, and with it every entity of its own, ends the reading.
import sax, { type QualifiedTag, type SAXOptions } from 'sax';
import { type Problem, problemOf } from '../../errors.ts';

export interface XmlElement {
  /** The name without its prefix. */
  name: string;
  /** The namespace. */
  space: string;
  attributes: Readonly<Record<string, string>>;
  text: string;
  /** The bytes of a file in base64, which is counted and not kept. */
  sizeBytes?: number;
  children: XmlElement[];
}

/** The error for a file that cannot be read, with the reason. */
export class Unreadable extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** An invoice of 5,000 lines has some 100,000 elements. */
const ELEMENTS_MAX = 100_000;
/** UBL has ten levels, CII eleven. */
const DEPTH_MAX = 64;
const ATTRIBUTES_MAX = 64;
/** Characters of a text. */
const TEXT_LONGEST = 100_000;
/** Characters that are parsed before the limits are looked at again. */
const CHUNK = 16 * 1024;
/** The beginnings of the namespaces of UBL and CII. */
const KNOWN_SPACES = ['urn:oasis:names:specification:ubl:schema:xsd:', 'urn:un:unece:uncefact:data:standard:'];
/** The elements that contain a file: of UBL, and of CII. */
const BINARY = new Set(['EmbeddedDocumentBinaryObject', 'AttachmentBinaryObject']);

/** Only the five entities of XML itself, and characters by their number. */
const STRICT = { xmlns: true, strictEntities: true } as SAXOptions;

/** Returns the root element. @throws Unreadable. */
export function parseXml(bytes: Uint8Array): XmlElement {
  const text = decoded(bytes);
  const parser = sax.parser(true, STRICT);
  const open: XmlElement[] = [];
  let root: XmlElement | undefined;
  let elements = 0;

  parser.onopentag = (tag) => {
    elements += 1;
    if (elements > ELEMENTS_MAX)
      throw new Unreadable(problemOf('file', 'e_invoice_too_many_elements', { limit: ELEMENTS_MAX }));
    if (open.length >= DEPTH_MAX) throw new Unreadable(problemOf('file', 'e_invoice_too_deep', { limit: DEPTH_MAX }));
    const element = elementOf(tag as QualifiedTag);
    const parent = open.at(-1);
    if (!parent) root = element;
    // An element of another namespace means something else, whatever its name is.
    else if (KNOWN_SPACES.some((space) => element.space.startsWith(space))) parent.children.push(element);
    open.push(element);
  };
  parser.onclosetag = () => {
    open.pop();
  };
  parser.ontext = add;
  parser.oncdata = add;
  parser.ondoctype = () => {
    throw new Unreadable(problemOf('file', 'e_invoice_document_type'));
  };
  parser.onerror = (error) => {
    const [reason = ''] = error.message.split('\n');
    if (/doctype/i.test(reason)) throw new Unreadable(problemOf('file', 'e_invoice_document_type'));
    const where = `line ${parser.line + 1}`;
    throw new Unreadable(problemOf('file', 'e_invoice_not_xml', { reason: `${reason.toLowerCase()} in ${where}` }));
  };
  for (let at = 0; at < text.length; at += CHUNK) {
    parser.write(text.slice(at, at + CHUNK));
    const { attribList = [] } = parser as unknown as { attribList?: readonly unknown[] };
    if (attribList.length > ATTRIBUTES_MAX)
      throw new Unreadable(problemOf('file', 'e_invoice_too_many_attributes', { limit: ATTRIBUTES_MAX }));
  }
  parser.close();
  if (!root) throw new Unreadable(problemOf('file', 'e_invoice_not_xml', { reason: 'there is no element' }));
  return root;

  function add(part: string) {
    const element = open.at(-1);
    if (!element) return;
    if (BINARY.has(element.name)) {
      element.sizeBytes = (element.sizeBytes ?? 0) + base64Characters(part);
      return;
    }
    if (element.text.length + part.length > TEXT_LONGEST) {
      throw new Unreadable(problemOf('file', 'e_invoice_text_too_long', { limit: TEXT_LONGEST }));
    }
    element.text += part;
  }
}

function elementOf({ local, uri, attributes }: QualifiedTag): XmlElement {
  const given = Object.values(attributes);
  if (given.length > ATTRIBUTES_MAX)
    throw new Unreadable(problemOf('file', 'e_invoice_too_many_attributes', { limit: ATTRIBUTES_MAX }));
  const named: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const one of given) if (one.prefix === '') named[one.local] = one.value;
  return { name: local, space: uri, attributes: named, text: '', children: [] };
}

function base64Characters(part: string): number {
  return part.length - (part.match(/[\s=]/g)?.length ?? 0);
}

const DECLARED = /^<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/;
/** The encodings that invoices are written in, by the names of the Encoding Standard. */
const ENCODINGS = new Set(['utf-8', 'utf-16le', 'utf-16be', 'iso-8859-1', 'iso-8859-15', 'windows-1252', 'us-ascii']);

/** Decodes by the mark of byte order, else by the declaration, else as UTF-8. @throws Unreadable. */
function decoded(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const marked = first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : '';
  const start = Buffer.from(bytes.subarray(0, 300)).toString('latin1').replace('\u{EF}\u{BB}\u{BF}', '');
  const declared = DECLARED.exec(start)?.[1]?.toLowerCase() ?? 'utf-8';
  // A declaration that can be read as single bytes is not UTF-16.
  const encoding = marked || (declared === 'utf-16' ? 'utf-8' : declared);
  if (!ENCODINGS.has(encoding)) throw new Unreadable(problemOf('file', 'e_invoice_encoding', { encoding }));
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new Unreadable(problemOf('file', 'e_invoice_encoding', { encoding }));
  }
}
