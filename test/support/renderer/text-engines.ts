// The text of a PDF as the engines of common readers find it: Firefox, Chrome, and the readers of Linux desktops.
import { execFileSync, spawnSync } from 'node:child_process';
import { PDFiumLibrary } from '@hyzyla/pdfium';
import { memoize } from 'es-toolkit/function/memoize';
import { readPdfTexts } from './read-pdf-texts.ts';

export type TextEngine = 'pdf.js' | 'PDFium' | 'Poppler';

/** Poppler is a program and no package: it is used where it is installed. */
const hasPoppler = spawnSync('pdftotext', ['-v']).error === undefined;

export const textEngines: TextEngine[] = ['pdf.js', 'PDFium', ...(hasPoppler ? ['Poppler' as const] : [])];

/** Starting the library takes longer than reading a document. */
const pdfium = memoize(() => PDFiumLibrary.init());

const readers: Record<TextEngine, (pdf: Buffer) => Promise<string>> = {
  'pdf.js': async (pdf) => (await readPdfTexts(pdf)).text,
  async PDFium(pdf) {
    const document = await (await pdfium()).loadDocument(Uint8Array.from(pdf));
    try {
      return Array.from(document.pages(), (page) => page.getText()).join('\n');
    } finally {
      document.destroy();
    }
  },
  Poppler: async (pdf) => execFileSync('pdftotext', ['-', '-'], { input: pdf, encoding: 'utf8' }),
};

/** Composed as readers compose what is typed into their search. */
export async function textIn(engine: TextEngine, pdf: Buffer): Promise<string> {
  return composed(engine, await readers[engine](pdf));
}

/** @returns those that the engine does not find. */
export async function missingWords(engine: TextEngine, pdf: Buffer, words: string[]): Promise<string[]> {
  const text = await textIn(engine, pdf);
  return words.filter((word) => !text.includes(composed(engine, word)));
}

/** pdf.js looks for letters of compatibility as for the ones they stand for. */
function composed(engine: TextEngine, text: string): string {
  return text.normalize(engine === 'pdf.js' ? 'NFKC' : 'NFC').replaceAll(/\s+/g, ' ');
}
