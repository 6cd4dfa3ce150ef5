// The words and links of a PDF, and nothing of it kept: thousands are read in one run.
import { getDocument, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';

export async function readWords(bytes: Uint8Array): Promise<{ text: string; links: string[] }> {
  const task = getDocument({ data: Uint8Array.from(bytes), verbosity: VerbosityLevel.ERRORS });
  try {
    const pdf = await task.promise;
    const texts: string[] = [];
    const links: string[] = [];
    for (let number = 1; number <= pdf.numPages; number += 1) {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      const annotations = (await page.getAnnotations()) as { url?: string }[];
      texts.push(items.map((item) => ('str' in item ? item.str : '')).join(''));
      links.push(...annotations.flatMap(({ url }) => (url ? [url] : [])));
    }
    return { text: texts.join(' '), links };
  } finally {
    await task.destroy();
  }
}
