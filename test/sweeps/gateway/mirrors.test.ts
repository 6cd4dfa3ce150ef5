// Mirrors: after any acts, a copy made of events alone and one made of `updated_since` alone have every field that the API answers.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addDays, dayIn } from '#libs/day.ts';
import { ask, promise } from '../../support/answers.ts';
import { count } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { doctorsProblems } from '../../support/ledger/promises.ts';
import { ACTS, type Known, remember, requestOf } from '../../support/mirrors/acts.ts';
import { differences, EventMirror, ListMirror, MIRRORED } from '../../support/mirrors/mirrors.ts';
import { type AnyRecord, create } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

/** Fixed, so that every run is the same; another seed can be given. */
const SEED = Number(process.env['TEST_SEED'] ?? 20_261_127);
const SEQUENCES = Number(process.env['TEST_SEQUENCES'] ?? 4);
const LENGTH = 100;
const ACTS_OF_POLL = 4;
const LIMIT_MS = 300_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A few records of each kind to begin with: most acts need one. */
const BEGINNING = ['addClient', 'addProject', 'addTask', 'logTime', 'addQuote', 'addInvoice', 'pay', 'addRecurring'];
/** Half of an invoice that was paid becomes credit, and credit of the payment pays the third invoice. Random acts hardly ever do that. */
const CREDITED = [
  { act: 'payInvoice', cents: null },
  { act: 'credit', cents: 9_900 },
  { act: 'addInvoice', cents: 9_900, isOther: true },
  { act: 'allocate', cents: 1_000, other: 2 },
];
/** Drawn besides: each needs another before it, and would hardly ever succeed. */
const RARE = ['allocateCredit', 'releaseCredit', 'refundCredit', 'pauseRecurring', 'resumeRecurring'];

const drawn = fc.record({
  act: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...Object.keys(ACTS)) },
    { weight: 1, arbitrary: fc.constantFrom(...RARE) },
  ),
  which: fc.nat({ max: 9 }),
  other: fc.nat({ max: 9 }),
  cents: fc.option(fc.integer({ min: 1, max: 20_000 })),
  isOther: fc.boolean(),
});

test(
  'when any acts change records of every kind, then mirrors of events and of lists have every field that the API answers',
  async () => {
    const done: Record<string, number> = {};
    const compared = new Set<string>();
    const sequences = fc.array(drawn, { minLength: LENGTH, maxLength: LENGTH });
    const property = fc.asyncProperty(sequences, async (sequence) => {
      const account = await gateway.workspace.account();
      const { key } = account;
      const known: Known = new Map();
      const lists = new ListMirror(gateway, key);
      const events = new EventMirror(gateway, key);
      const compare = async (readsSingly: boolean) => {
        await lists.poll();
        await events.poll();
        const mirrors = { events: events.records, lists: lists.records };
        expect(await differences(gateway, key, mirrors, { readsSingly })).toEqual([]);
      };
      const begun = [true, false].flatMap((isOther) =>
        BEGINNING.map((act) => ({ act, which: 0, other: 1, cents: 9_900, isOther })),
      );
      const credited = CREDITED.map((one) => ({ which: 0, other: 1, isOther: false, ...one }));
      for (const [index, one] of [...begun, ...credited, ...sequence].entries()) {
        if (index === begun.length) await hearClient(account, known);
        const { method, path, body } = requestOf(one, known);
        const reply = await gateway.call(method, `/api/v1${path}`, { key, ...(body ? { body } : {}) });
        expect([200, 201, 400, 404, 409, 422]).toContain(reply.status);
        if (reply.status < 300) done[one.act] = (done[one.act] ?? 0) + 1;
        if (reply.status < 300 && method === 'POST') remember(known, path, reply.body.data);
        // Later acts on a record would hide that an earlier one said nothing.
        if (index % ACTS_OF_POLL === 0) await compare(false);
      }
      await compare(true);
      count('sequences of mirrors', 1);
      for (const [path, { size }] of events.records) if (size > 0) compared.add(path);
      expect(await doctorsProblems()).toEqual([]);
    });
    await fc.assert(property, { seed: SEED, numRuns: SEQUENCES, endOnFailure: true });

    // Most acts were really made, not refused, and there were records of each kind.
    expect(Object.keys(done).length).toBeGreaterThan(Object.keys(ACTS).length * 0.7);
    expect(MIRRORED.filter(({ path }) => !compared.has(path))).toEqual([]);
  },
  LIMIT_MS,
);

/** A client that no act erases promises to pay an invoice, and asks about it. */
async function hearClient(account: TestAccount, known: Known): Promise<void> {
  const { id: client_id } = await create(
    gateway,
    '/api/v1/clients',
    { name: 'Eve', email: 'eve@example.com' },
    account,
  );
  const body = { client_id, amount: 10, due_date: '2099-12-31', status: 'Sent' };
  const { id } = await create(gateway, '/api/v1/invoices', body, account);
  await promise(account.id, id, addDays(dayIn('UTC'), 7));
  for (const text of ['When?', 'Why?', 'How?']) await ask(account.id, { type: 'invoice', id, text });
  for (const question of (await gateway.get('/api/v1/questions', account)).body.data as AnyRecord[])
    remember(known, '/questions', question);
}
