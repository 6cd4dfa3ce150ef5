// O4: every document is whole, has only its own token, and as many pages as it should.
import { readPdf } from '../../renderer/read-pdf.ts';
import { foreignMarks } from '../load/marks.ts';
import type { RoundFacts } from '../round-facts.ts';

const TOKEN = /TK\d{10}/g;

export async function judgeDocuments({ load, journal }: RoundFacts): Promise<void> {
  for (const { account, token, pages, bytes } of load.documents.printed.splice(0)) {
    const isWhole = bytes.subarray(0, 5).toString() === '%PDF-' && bytes.subarray(-16).toString().includes('%%EOF');
    if (!isWhole) {
      journal.breach('O4', `document ${token} is cut: ${bytes.length} bytes`);
      continue;
    }
    try {
      const pdf = await readPdf(bytes);
      // Words may be drawn in pieces.
      const text = pdf.text.replaceAll(/\s/g, '');
      const tokens = new Set(text.match(TOKEN));
      if (!tokens.delete(token)) journal.breach('O4', `document ${token} does not hold its token`);
      if (tokens.size > 0) journal.breach('O4', `document ${token} holds ${[...tokens].join(', ')}`);
      if (pdf.pages.length > 1 !== (pages === 'several'))
        journal.breach('O4', `document ${token} has ${pdf.pages.length} pages`);
      const foreign = foreignMarks(text, account.mark);
      if (foreign.length > 0) journal.breach('O8', `document ${token} of ${account.mark} holds ${foreign.join(', ')}`);
    } catch (error) {
      journal.breach('O4', `document ${token} cannot be read: ${(error as Error).message}`);
    }
  }
}
