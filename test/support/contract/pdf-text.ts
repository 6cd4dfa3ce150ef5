// Reads the text of a PDF back, and looks for phrases in it.
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';

export async function pdfText(bytes: Buffer): Promise<string> {
  const loading = getDocument({ data: new Uint8Array(bytes), useSystemFonts: false, verbosity: 0 });
  const document = await loading.promise;
  const pages: string[] = [];
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    pages.push(items.map((item) => ('str' in item ? item.str : '')).join(' '));
  }
  await loading.destroy();
  return pages.join(' ').replaceAll(/\s+/g, ' ');
}

/** True when the text holds the phrase. Spaced-out capitals and ligatures come back with gaps, so only letters are compared. */
export function prints(text: string, phrase: string): boolean {
  const letters = (from: string) => from.replaceAll(/\s/g, '').toLowerCase();
  return letters(text).includes(letters(phrase));
}
