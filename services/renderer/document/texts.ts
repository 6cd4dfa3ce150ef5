// Texts of a caller on the way into a document.

/** The lines of an address or a name in one line. */
export function inLine(text: string): string {
  return inLines(text).join(', ');
}

export function inLines(text: string): string[] {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim().replace(/,$/, ''))
    .filter((line) => line !== '');
}

/** @returns undefined for an empty text, so that no label is printed without a text. */
export function printable(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}
