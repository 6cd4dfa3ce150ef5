// Prepares texts of a caller for a document.

/** Returns the lines of an address or a name in one line. */
export function inLine(text: string): string {
  return inLines(text).join(', ');
}

export function inLines(text: string): string[] {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim().replace(/,$/, ''))
    .filter((line) => line !== '');
}

/** Keeps a dash on the line of the word before it. */
export function withDashesBound(text: string): string {
  return text.replaceAll(/ (?=[\u2010-\u2015-](?: |$))/gm, NO_BREAK);
}

/** The longest text that is kept on one line. A longer one would not fit into a column. */
const BOUND_LONGEST = 26;

/** Keeps a number and the word before it in its label on one line. */
export function withNumberBound(label: (number: string) => string, number: string): string {
  if (number.length > BOUND_LONGEST) return label(number);
  const whole = number.replaceAll(' ', NO_BREAK);
  const text = label(whole);
  const word = /\S+ $/.exec(text.slice(0, text.lastIndexOf(whole)))?.[0];
  return word && word.length + whole.length <= BOUND_LONGEST
    ? text.replace(`${word}${whole}`, `${word.trimEnd()}${NO_BREAK}${whole}`)
    : text;
}

const NO_BREAK = '\u00a0';

/** East Asian characters, which are twice as wide as others. */
const WIDE = /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]/g;
const HAS_WIDE = new RegExp(WIDE.source);

export function hasWide(text: string): boolean {
  return HAS_WIDE.test(text);
}

/** Returns the width of a text in characters of usual width. */
export function widthOf(text: string): number {
  return hasWide(text) ? text.length + (text.match(WIDE)?.length ?? 0) : text.length;
}

/** Returns a text, or undefined for an empty one, so that no label is printed without a text. */
export function printable(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}
