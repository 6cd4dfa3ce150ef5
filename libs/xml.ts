// Writes XML from nested lists: [name, attributes?, ...children]. An undefined part is left out, and with it an element without content, unless KEEP is in it.

type Attributes = Readonly<Record<string, string>>;
/** A mark in an element that has to be written although it is empty. */
export const KEEP = Symbol('keep');
type Content = string | Attributes | Element | typeof KEEP | undefined;
interface Element extends ReadonlyArray<Content> {
  /** The name of the element. */
  readonly 0: string;
}
export type Xml = Element | undefined;

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' };
/** The characters that XML 1.0 has no way to write, and halves of surrogate pairs. */
const UNWRITABLE = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

export function xmlDocument(root: Element): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${xmlElement(root)}\n`;
}

export function xmlElement(root: Element): string {
  return write(root, '');
}

function write([name, ...content]: Element, indent: string): string {
  let attributes = '';
  let text = '';
  let isKept = false;
  const children: string[] = [];
  for (const part of content) {
    if (part === undefined) continue;
    if (part === KEEP) isKept = true;
    else if (typeof part === 'string') text += escaped(part);
    else if (isElement(part)) children.push(write(part, `${indent}  `));
    else for (const [key, value] of Object.entries(part)) attributes += ` ${key}="${escaped(value)}"`;
  }
  const inner = children.filter((child) => child !== '');
  if (inner.length > 0) return `${indent}<${name}${attributes}>\n${inner.join('\n')}\n${indent}</${name}>`;
  if (text === '') return isKept ? `${indent}<${name}${attributes}/>` : '';
  return `${indent}<${name}${attributes}>${text}</${name}>`;
}

function isElement(part: Attributes | Element): part is Element {
  return Array.isArray(part);
}

function escaped(text: string): string {
  return text
    .replaceAll(UNWRITABLE, '\u{FFFD}')
    .replaceAll(/[&<>"\r]/g, (character) => ESCAPES[character] ?? character);
}
