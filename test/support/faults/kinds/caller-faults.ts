// Faults of others: callers that disconnect, receivers and image servers that misbehave, documents that are made to be slow.
import { request } from 'node:http';
import { register } from '../../webhooks.ts';
import { type Fault, type FaultContext, seconds } from '../fault.ts';
import { documentOf } from '../load/document-calls.ts';
import { allOf } from '../oracles/oracle-records.ts';
import { BAD_IMAGES, MISBEHAVIOURS, openBadServer } from '../system/bad-server.ts';
import { POISONS } from './poisons.ts';

const BOTH = ['records', 'documents'] as const;
const PDF = '/api/tools/generate-pdf';

export const callerFaults: readonly Fault[] = [
  {
    id: 'F26',
    title: 'callers hang up: before the queue, waiting, in the middle of the answer',
    spares: BOTH,
    isShort: true,
    async run(context) {
      const { chance, isShort, say } = context;
      const times = isShort ? 24 : 200;
      for (let time = 0; time < times; time += 1) {
        const when = chance.pick(['sent', 'waiting', 'rendering', 'answer'] as const);
        void hangUp(context, when);
        await seconds(0.1 + 0.2 * chance.next());
      }
      say(`${times} callers hung up`);
    },
  },
  {
    id: 'F27',
    title: 'receivers of webhooks that do everything wrong',
    spares: BOTH,
    isShort: true,
    run: badReceivers,
  },
  {
    id: 'F28',
    title: 'pictures that cannot be had, or are none',
    spares: ['records'],
    isShort: true,
    async run({ system, load, chance, isShort, journal, say }) {
      await system.ready();
      const server = await openBadServer();
      try {
        const kinds = isShort ? chance.shuffled(Object.keys(BAD_IMAGES)).slice(0, 6) : Object.keys(BAD_IMAGES);
        for (const kind of kinds) {
          const status = await load.documents.call({ logoUrl: `http://127.0.0.1:${server.port}/${kind}` });
          if (status !== 200)
            journal.breach('O4', `a document with a logo that is "${kind}" was answered with ${status}`);
        }
        say(`${kinds.length} kinds: ${kinds.join(', ')}`);
      } finally {
        await server.close();
      }
    },
  },
  {
    id: 'F29',
    title: 'documents made to choke on',
    spares: ['records'],
    async run({ load, accounts, chance, isShort, say }) {
      const poisons = Object.entries(POISONS);
      for (const [name, changes] of isShort ? chance.shuffled(poisons).slice(0, 3) : poisons) {
        const account = chance.pick(accounts);
        const body = { ...documentOf(account.mark, `TK${chance.whole(1e9, 9e9)}`, 3), ...changes() };
        const answer = await load.ask({ account, kind: 'documents', method: 'POST', path: PDF, body });
        say(`${name}: ${answer?.status}`);
      }
    },
  },
];

function hangUp({ system, accounts, chance }: FaultContext, when: 'sent' | 'waiting' | 'rendering' | 'answer') {
  const account = chance.pick(accounts);
  const url = chance.pick(system.gateways).url + PDF;
  const body = JSON.stringify(documentOf(account.mark, `TK${chance.whole(1e9, 9e9)}`, when === 'rendering' ? 300 : 3));
  const headers = { Authorization: `Bearer ${account.key}`, 'Content-Type': 'application/json' };
  return new Promise<void>((resolve) => {
    const sending = request(url, { method: 'POST', headers, agent: false });
    sending.on('error', () => undefined); // This side disconnects.
    sending.on('close', () => resolve());
    sending.on('response', (response) => {
      response.on('error', () => undefined);
      response.once('data', () => sending.destroy());
      response.resume();
    });
    sending.end(body, () => {
      if (when === 'sent') sending.destroy();
      else if (when !== 'answer') setTimeout(() => sending.destroy(), when === 'waiting' ? 30 : 300);
    });
  });
}

async function badReceivers({ system, load, accounts, journal, isShort, chance, say }: FaultContext) {
  const account = accounts[2] ?? chance.pick(accounts);
  const server = await openBadServer();
  const urls: Record<string, string> = Object.fromEntries([
    ...Object.keys(MISBEHAVIOURS).map((kind) => [kind, `http://127.0.0.1:${server.port}/${kind}`]),
    ['no TLS', `https://127.0.0.1:${server.port}/hangs`],
    ['no such name', 'https://nowhere.invalid/hook'],
    ['no receiver', 'http://127.0.0.1:9/hook'],
  ]);
  const kinds = isShort ? chance.shuffled(Object.keys(urls)).slice(0, 8) : Object.keys(urls);
  const ids = new Map<string, string>();
  try {
    for (const kind of kinds) {
      const { endpoint } = await register(system.workspace, account.id, urls[kind] ?? '', ['client.created']);
      ids.set(endpoint.id, kind);
    }
    for (let time = 0; time < 5; time += 1) await load.records.createClient();
    await seconds(isShort ? 5 : 30);
    const deliveries = await allOf('deliveries', account.id);
    for (const { endpoint_id, status, attempts } of deliveries) {
      const kind = ids.get(String(endpoint_id));
      if (!kind || status !== 'delivered' || SEEM_WELL.has(kind)) continue;
      journal.breach('O3', `a webhook to "${kind}" counts as delivered: ${JSON.stringify(attempts)}`);
    }
    say(`${kinds.length} kinds: ${kinds.join(', ')}`);
  } finally {
    // Deliveries that still wait for these endpoints must not disturb later rounds.
    for (const id of ids.keys()) {
      await load.ask({ account, kind: 'records', method: 'DELETE', path: `/api/v1/webhooks/${id}` });
    }
    await server.close();
  }
}

/** They answer with 200, whatever comes after it. */
const SEEM_WELL = new Set(['late', 'endless', 'wrong-length', 'drips']);
