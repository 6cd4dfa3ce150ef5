// The table of neighbours: what each does at its full rate, and which weakness it once used.
import { HOSTILE_DOCUMENTS, HOSTILE_JSON } from '../../test/support/hostile-bodies.ts';
import { pdfOf } from '../../test/support/pdf-body.ts';
import {
  batches,
  heavyReads,
  keylessRequests,
  largeListsUnread,
  lineTexts,
  manyConnections,
  manyKeys,
  pipelinedUnread,
  refunds,
} from './attacks.ts';

import { type Attack, postSteadily } from './post-steadily.ts';

export interface Neighbour {
  name: string;
  /** Its number in the list of lab/README.md; none for an honest one, which shows what the machine can bear. */
  finding: string;
  attack: Attack;
}

const CLIENTS = '/api/v1/clients';
const PDF_TOOL = '/api/tools/generate-pdf';
/** The most documents that an account may have in flight. */
const DOCUMENTS_AT_ONCE = 32;

/** Returns an object with `count` names, to fill the longest body that other operations take. */
const names = (count: number) => `{${Array.from({ length: count }, (_none, index) => `"k${index}":0`).join()}}`;

const READ = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n';
const HEAD = 'POST /api/v1/clients HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const bodyToCome = (key: string) => `${HEAD}Authorization: Bearer ${key}\r\nContent-Length: 900\r\n\r\n`;

export const NEIGHBOURS: readonly Neighbour[] = [
  {
    name: 'honest: ordinary documents, 32 at a time',
    finding: '',
    attack: postSteadily(PDF_TOOL, () => JSON.stringify(pdfOf('Invoice')), DOCUMENTS_AT_ONCE),
  },
  {
    name: 'honest: new clients, 8 at a time',
    finding: '',
    attack: postSteadily(CLIENTS, () => JSON.stringify({ name: 'Grace Hopper', email: 'grace@example.com' }), 8),
  },
  { name: 'honest: full pages of clients, 20 at a time', finding: '9', attack: manyKeys },
  ...HOSTILE_DOCUMENTS.map(({ name, body }) => {
    return { name, finding: '1', attack: postSteadily(PDF_TOOL, body, DOCUMENTS_AT_ONCE) };
  }),
  { name: 'batches of the longest invoices', finding: '1, 7', attack: batches },
  { name: 'pipelined reads, never read', finding: '2', attack: pipelinedUnread },
  { name: 'large lists, never read', finding: '2', attack: largeListsUnread },
  ...HOSTILE_JSON.map(({ name, body }) => ({ name, finding: '3', attack: postSteadily(PDF_TOOL, body, 4) })),
  { name: '24,000 unknown names of a client', finding: '3', attack: postSteadily(CLIENTS, () => names(24_000), 8) },
  { name: '2,050 silent connections', finding: '8', attack: manyConnections(() => '', false) },
  { name: '2,050 connections, idle after a request', finding: '8', attack: manyConnections(() => READ, false) },
  { name: '2,050 dripping headers', finding: '8', attack: manyConnections(() => `${HEAD}X-Drip: `, true) },
  { name: '2,050 dripping bodies', finding: '8', attack: manyConnections(bodyToCome, true) },
  { name: 'balances and movements of 300 long payments', finding: '', attack: heavyReads },
  { name: 'previews with long line texts', finding: '', attack: lineTexts },
  { name: 'refunds of one payment', finding: '', attack: refunds },
  { name: 'requests without a key', finding: '10', attack: keylessRequests },
];
