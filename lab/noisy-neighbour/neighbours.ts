// The table of hostile neighbours: what each does at its full rate, and which weakness it once used.
import { HOSTILE_DOCUMENTS, HOSTILE_JSON } from '../../test/support/hostile-bodies.ts';
import {
  batches,
  connectionsWithoutRequest,
  keylessRequests,
  largeListsUnread,
  manyKeys,
  pipelinedUnread,
} from './attacks.ts';

import { type Attack, postSteadily } from './post-steadily.ts';

export interface Neighbour {
  name: string;
  /** Its number in the list of lab/README.md. */
  finding: string;
  attack: Attack;
}

const PDF_TOOL = '/api/tools/generate-pdf';
/** As many as an account may have in flight. */
const DOCUMENTS_AT_ONCE = 32;

export const NEIGHBOURS: readonly Neighbour[] = [
  ...HOSTILE_DOCUMENTS.map(({ name, body }) => {
    return { name, finding: '1', attack: postSteadily(PDF_TOOL, body, DOCUMENTS_AT_ONCE) };
  }),
  { name: 'batches of the longest invoices', finding: '1, 7', attack: batches },
  { name: 'pipelined reads, never read', finding: '2', attack: pipelinedUnread },
  { name: 'large lists, never read', finding: '2', attack: largeListsUnread },
  ...HOSTILE_JSON.map(({ name, body }) => ({ name, finding: '3', attack: postSteadily(PDF_TOOL, body, 4) })),
  { name: '2,050 silent connections', finding: '8', attack: connectionsWithoutRequest('') },
  {
    name: '2,050 dripping headers',
    finding: '8',
    attack: connectionsWithoutRequest('GET /docs HTTP/1.1\r\nHost: x\r\nX-Drip: '),
  },
  { name: 'reads with 20 keys', finding: '9', attack: manyKeys },
  { name: 'requests without a key', finding: '10', attack: keylessRequests },
];
