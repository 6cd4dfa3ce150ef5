// Reads values out of the elements of an e-invoice, in either syntax.
import type { XmlElement } from './parse-xml.ts';

/** Returns the first element at the end of a path of names. */
export function at(from: XmlElement | undefined, ...path: string[]): XmlElement | undefined {
  let element = from;
  for (const name of path) element = element?.children.find((child) => child.name === name);
  return element;
}

/** Returns all elements of a name below the first element at the rest of the path. */
export function all(from: XmlElement | undefined, ...path: string[]): XmlElement[] {
  const last = path.at(-1);
  return at(from, ...path.slice(0, -1))?.children.filter(({ name }) => name === last) ?? [];
}

/** Returns the text of the first element at the end of a path, or null. */
export function textAt(from: XmlElement | undefined, ...path: string[]): string | null {
  return at(from, ...path)?.text.trim() || null;
}

/** Returns the size of a file from the characters of its base64. */
export function bytesOfBase64({ sizeBytes = 0 }: XmlElement): number {
  return Math.floor((sizeBytes * 3) / 4);
}

/** Returns a number with the scheme that it is of. */
export function identifiedBy(element: XmlElement | undefined): { value: string; scheme: string | null } | null {
  const value = textAt(element);
  return value === null ? null : { value, scheme: element?.attributes['schemeID'] ?? null };
}

/** Returns the texts of the elements, without empty ones. */
export function textsOf(elements: readonly XmlElement[]): string[] {
  return elements.flatMap((one) => textAt(one) ?? []);
}

/**
 * Returns the total in the currency of the document, else the first one. There may be a second total, in the currency that
 * the tax is paid in.
 * @param amountOf returns the element with the currency, where it is not the total itself.
 */
export function inCurrency(
  totals: readonly XmlElement[],
  currency: string | null,
  amountOf: (total: XmlElement) => XmlElement | undefined = (total) => total,
): XmlElement | undefined {
  return totals.find((one) => amountOf(one)?.attributes['currencyID'] === currency) ?? totals[0];
}
