// Every text of an account has its mark, and nothing that the other gets has it: responses, documents, webhooks, events, log lines. One of two
// equal accounts uses every operation, with TEST_FULL=1 both do.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { count, isFull } from '../../support/form.ts';
import { callerOf, type TestGateway, verbsOf } from '../../support/gateway.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { create } from '../../support/records.ts';
import { startSystem, type TestSystem } from '../../support/system.ts';
import type { TestAccount } from '../../support/workspace.ts';
import { type Captured, callEverything, leaksIn, makeEverything } from '../../sweeps/hostile/tenants-matrix.ts';

const LIMIT_MS = 900_000;
const marks = { A: `qa${randomBytes(6).toString('hex')}-`, B: `qb${randomBytes(6).toString('hex')}-` };

let system: TestSystem;
let gateway: TestGateway;
const receivers: Receiver[] = [];
beforeAll(async () => {
  const limits = { RATE_LIMIT_REQUESTS: '0', RATE_LIMIT_DOCUMENTS: '0', RATE_LIMIT_REFUSALS: '0' };
  // Most endpoints cannot be reached: with the waits of production they are called once, not again and again.
  system = await startSystem({ env: { ...limits, PORTAL_URL: 'https://portal.example' } });
  const { workspace, account } = system;
  gateway = {
    url: system.gateway.url,
    workspace,
    account,
    ...verbsOf(callerOf(system.gateway.url, account.key)),
    close: () => system.close(),
  };
}, LIMIT_MS);
afterAll(async () => {
  for (const receiver of receivers) await receiver.close();
  await gateway.close();
}, LIMIT_MS);

test(
  'when two accounts use every operation, then neither gets any data of the other',
  async () => {
    const accounts = { A: await aTenant('A'), B: await aTenant('B') };
    const ids = {
      A: await makeEverything(gateway, accounts.A.account, marks.A),
      B: await makeEverything(gateway, accounts.B.account, marks.B),
    };
    const idOf = (who: string) => (index: number) => `tenant-${who}-${marks[who as 'A' | 'B']}${index}`;
    const captured: Record<'A' | 'B', Captured[]> = { A: [], B: [] };
    if (isFull) captured.A = await callEverything(gateway, accounts.A.account, marks.A, ids.B, idOf('A'));
    captured.B = await callEverything(gateway, accounts.B.account, marks.B, ids.A, idOf('B'));
    for (const who of ['A', 'B'] as const) {
      captured[who].push(
        ...(await eventsOf(accounts[who].account)),
        ...(await calledBack(accounts[who].receiver)),
        ...logLinesOf(marks[who]),
      );
    }

    const received = [/^webhook/m, /^event/m];
    const asked = [/getClient of its own/, /printInvoice of its own/, /generatePdf/, /^log/m];
    for (const [who, other, places] of [
      ['A', 'B', isFull ? [...received, ...asked] : received],
      ['B', 'A', [...received, ...asked]],
    ] as const) {
      // A leak would be found: each account's own mark is in its responses, documents, webhooks, events and log lines.
      const own = leaksIn(captured[who], marks[who]).join('\n');
      for (const place of places) expect([who, place, place.test(own)]).toEqual([who, place, true]);
      expect(leaksIn(captured[who], marks[other])).toEqual([]);
      count('answers searched for the mark of another account', captured[who].length);
    }
    // A planted leak is found.
    const planted: Captured = {
      what: 'planted',
      text: captured.B.find(({ what }) => what === 'getClient of its own')?.text ?? '',
    };
    expect(leaksIn([...captured.A, planted], marks.B)).toEqual(['planted']);
  },
  LIMIT_MS,
);

async function aTenant(who: 'A' | 'B'): Promise<{ account: TestAccount; receiver: Receiver }> {
  const account = await system.workspace.account({ name: `${marks[who]}account` });
  const receiver = await startReceiver();
  receivers.push(receiver);
  await create(gateway, '/api/v1/webhooks', { url: receiver.url, description: `${marks[who]}mine` }, account);
  return { account, receiver };
}

async function eventsOf(account: TestAccount): Promise<Captured[]> {
  const captured: Captured[] = [];
  for (let after = 0, hasMore = true; hasMore; ) {
    const { body } = await gateway.get(`/api/v1/events?limit=100&after=${after}`, account);
    captured.push({ what: `events after ${after}`, text: JSON.stringify(body) });
    [after, hasMore] = [body.next_after, body.has_more];
  }
  return captured;
}

/** Its first endpoint may have been replaced meanwhile; the calls it got until then are enough to search. */
async function calledBack(receiver: Receiver): Promise<Captured[]> {
  await eventually(() => receiver.received.length > 0, 120_000);
  return receiver.received.map(({ headers, body }, index) => ({
    what: `webhook ${index}`,
    text: `${JSON.stringify(headers)} ${body}`,
  }));
}

/** Returns the log lines about this account's requests, which carry ids of their own. */
function logLinesOf(mark: string): Captured[] {
  const lines = [system.gateway, system.webhooks, ...system.renderers].flatMap((service) =>
    service.output().split('\n'),
  );
  return lines.filter((line) => line.includes(mark)).map((text, index) => ({ what: `log ${index}`, text }));
}
