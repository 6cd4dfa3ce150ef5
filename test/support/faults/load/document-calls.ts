// Callers of documents: each asks for a PDF with a token of its own and keeps what came for the judge.

import type { Chance } from '../../chance.ts';
import type { MarkedAccount } from './accounts.ts';
import type { Ask } from './ask.ts';

interface PrintedDocument {
  account: MarkedAccount;
  token: string;
  pages: 'one' | 'several';
  bytes: Buffer;
}

export interface DocumentCalls {
  /** Asks for a document. */
  call(changes?: object): Promise<number | undefined>;
  printed: PrintedDocument[];
}

const LONG_SHARE = 0.1;
const LONG_LINES = 120;

export function openDocumentCalls(options: {
  ask: Ask;
  accounts: readonly MarkedAccount[];
  chance: Chance;
}): DocumentCalls {
  const { ask, accounts, chance } = options;
  const printed: PrintedDocument[] = [];
  return {
    printed,
    async call(changes = {}) {
      const account = chance.pick(accounts);
      const token = `TK${chance.whole(1e9, 9e9)}`;
      const isLong = chance.happens(LONG_SHARE);
      const body = { ...documentOf(account.mark, token, isLong ? LONG_LINES : 3), ...changes };
      const answer = await ask({ account, kind: 'documents', method: 'POST', path: '/api/tools/generate-pdf', body });
      if (answer?.status === 200)
        printed.push({ account, token, pages: isLong ? 'several' : 'one', bytes: answer.bytes });
      return answer?.status;
    },
  };
}

export function documentOf(mark: string, token: string, lines: number) {
  return {
    title: 'Invoice',
    number: token,
    date: '2026-11-21',
    clientName: `${mark} customer`,
    clientEmail: 'customer@example.com',
    partnerName: `${mark} studio`,
    partnerEmail: 'studio@example.com',
    amount: 100 * lines,
    lineItems: Array.from({ length: lines }, (_none, line) => ({
      description: `${mark} line ${line}`,
      qty: 1,
      rate: 100,
    })),
    notes: `${mark} ${token} notes`,
  };
}
