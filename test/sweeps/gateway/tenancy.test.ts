// No account can see, change or detect another's records: every operation × own, other, unknown and malformed ids × both ways.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sampled } from '../../support/form.ts';
import { type Reply, startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, filledPath, kindOf, make, operations, REFERENCES } from '../../support/operations.ts';
import { UNKNOWN_ID } from '../../support/records.ts';
import { fieldsOf, parametersOf, routeTable } from '../../support/route-table.ts';
import type { TestAccount } from '../../support/workspace.ts';

const MALFORMED = [
  '1',
  'null',
  'undefined',
  '[object Object]',
  '{"$ne":null}',
  '%00',
  `${UNKNOWN_ID}0`,
  `{${UNKNOWN_ID}}`,
  'x'.repeat(2_000),
];
const onRecords = routeTable.filter(({ path }) => path.includes('{id}'));
const lists = routeTable.filter(
  (row) => row.method === 'get' && 'limit' in parametersOf(row) && !row.path.includes('{id}'),
);
const references = routeTable.flatMap((row) => {
  return Object.keys(fieldsOf(row))
    .filter((field) => field in REFERENCES)
    .map((field) => ({ row, field }));
});
const ways = [
  ['A', 'B'],
  ['B', 'A'],
] as const;
/** Returns the way of a row of a table. The ways take turns: the accounts differ in nothing but their age. */
const turn = (index: number) => ways[index % ways.length] as (typeof ways)[number];

let gateway: TestGateway;
let accounts: { A: TestAccount; B: TestAccount };
beforeAll(async () => {
  gateway = await startGateway();
  accounts = {
    A: await gateway.workspace.account({ name: 'A-account' }),
    B: await gateway.workspace.account({ name: 'B-account' }),
  };
});
afterAll(() => gateway.close());

const send = async (row: { method: string; path: string }, id: string, account: TestAccount, body?: object) =>
  gateway.call(row.method.toUpperCase(), filledPath(row.path, id), {
    key: account.key,
    body,
  });

/** Everything by which a caller could distinguish two rejections. */
function visible({ status, body, headers }: Reply) {
  const shown = [...headers].filter(([name]) => !/^(date|x-request-id|ratelimit|content-length|keep-alive)/.test(name));
  return { status, body, headers: Object.fromEntries(shown) };
}

test('when an operation is added, then it has a row in test/support/operations.ts', () => {
  const known = Object.keys(operations);
  expect(routeTable.map(({ operation }) => operation).filter((operation) => !known.includes(operation))).toEqual([]);
});

const calls = sampled(onRecords, 16).map((row, index) => [row.operation, ...turn(index), row] as const);
describe.each(calls)('%s called by %s', (operation, caller, other, row) => {
  const kind = kindOf(row.path);

  test('when the record is its own, then it is served, even with its id in capitals', async () => {
    for (const write of [(id: string) => id, (id: string) => id.toUpperCase()]) {
      const body = await bodyFor(gateway, operation, accounts[caller]);
      const id = await make(gateway, kind, accounts[caller], `${caller}-`);
      // Without a renderer, a document can only be requested by HEAD.
      const asked = operations[operation]?.printed ? { ...row, method: 'head' as const } : row;
      const reply = await send(asked, write(id), accounts[caller], body);

      expect([reply.status, reply.status < 300]).toEqual([reply.status, true]);
    }
  });

  test("when the id is another account's, unknown or malformed, then the responses are indistinguishable", async () => {
    const foreign = await make(gateway, kind, accounts[other], `${other}-`);
    const body = await bodyFor(gateway, operation, accounts[caller]);
    const before = await snapshot(kind, foreign, accounts[other]);
    const expected = visible(await send(row, UNKNOWN_ID, accounts[caller], body));

    expect(expected).toMatchObject({ status: 404, body: { error: row.missing } });
    // Rejected requests change nothing, so all are sent concurrently.
    await Promise.all(
      [foreign, ...MALFORMED.map(encodeURIComponent)].map(async (id) =>
        expect([id, visible(await send(row, id, accounts[caller], body))]).toEqual([id, expected]),
      ),
    );
    expect(await snapshot(kind, foreign, accounts[other])).toEqual(before);
  });
});

const LISTED = [
  'tasks',
  'time-entries',
  'quotes',
  'invoices',
  'payments',
  'credit-notes',
  'documents',
  'keys',
  'webhooks',
  'events',
];
const made = new Map<string, Promise<Map<string, string>>>();

/** A record of each kind in both accounts, made once for all lists. @returns those of the other by their kind. */
function recordsOf(caller: 'A' | 'B', other: 'A' | 'B') {
  const known = made.get(caller) ?? makeAll(caller, other);
  made.set(caller, known);
  return known;
}

async function makeAll(caller: 'A' | 'B', other: 'A' | 'B'): Promise<Map<string, string>> {
  for (const kind of LISTED) await make(gateway, kind, accounts[caller], `${caller}-`);
  const ids = new Map<string, string>();
  for (const kind of [...LISTED, 'clients', 'projects']) {
    ids.set(kind, await make(gateway, kind, accounts[other], `${other}-`));
  }
  return ids;
}

describe.each(lists.map((row) => [row.operation, row] as const))('%s', (_operation, row) => {
  test.each(sampled(ways, 2))(
    'when %s lists, then no record of %s is in the list, whatever the filter',
    async (caller, other) => {
      const filters = Object.keys(parametersOf(row)).filter((name) => name in REFERENCES);
      const ids = await recordsOf(caller, other);

      const all = await gateway.get(`${row.path}?limit=100`, accounts[caller]);
      expect(all.status).toBe(200);
      expect(JSON.stringify(all.body)).not.toContain(`"${other}-`);
      for (const id of ids.values()) expect(JSON.stringify(all.body)).not.toContain(id);
      for (const name of filters) {
        const reply = await gateway.get(`${row.path}?${name}=${ids.get(REFERENCES[name] as string)}`, accounts[caller]);
        expect([name, reply.status, reply.body.data, reply.body.pagination.total]).toEqual([name, 200, [], 0]);
      }
    },
  );
});

const namings = sampled(references, 16).map(
  ({ row, field }, index) => [row.operation, field, ...turn(index), row] as const,
);
test.each(namings)(
  "%s with %s: when %s names %s's record or a deleted one, then the response is the 404 of an unknown id",
  async (operation, field, caller, other, row) => {
    const kind = REFERENCES[field] as string;
    const body = (await bodyFor(gateway, operation, accounts[caller])) ?? {};
    const id = row.path.includes('{id}') ? await make(gateway, kindOf(row.path), accounts[caller], `${caller}-`) : '';
    const foreign = await make(gateway, kind, accounts[other], `${other}-`);
    const gone = await make(gateway, kind, accounts[caller], `${caller}-`);
    await gateway.delete(`/api/v1/${kind}/${gone}`, accounts[caller]);

    const expected = visible(await send(row, id, accounts[caller], { ...body, [field]: UNKNOWN_ID }));
    expect([expected.status, expected.body.error]).toEqual([404, expect.stringMatching(/not found/)]);
    const naming = (reference: unknown) => send(row, id, accounts[caller], { ...body, [field]: reference });
    await Promise.all([
      ...[foreign, gone].map(async (reference) => expect(visible(await naming(reference))).toEqual(expected)),
      ...['1', 7, { $ne: null }, [UNKNOWN_ID], ''].map(async (reference) =>
        expect([reference, (await naming(reference)).status]).toEqual([reference, 400]),
      ),
    ]);
  },
);

/** The record as its own account sees it. */
async function snapshot(kind: string, id: string, owner: TestAccount) {
  const { status, body } = await gateway.get(
    `/api/v1/${kind.replace(/^(sent|complete|attached|written-off|timed|paused|fixed|linked|promised|accepted|overdue)-/, '')}/${id}`,
    owner,
  );
  expect(status).toBe(200);
  return body;
}
