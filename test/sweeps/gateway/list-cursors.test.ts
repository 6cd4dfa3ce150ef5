// Pages by cursor: concurrent changes repeat or skip no record, and a copy that follows `updated_at` loses no change.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { driverOf } from '#libs/models/records.ts';
import { newRecord, storedId } from '#libs/models/tenant.ts';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import { hasCursor } from '../../../services/gateway/http/route.ts';
import { runs } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { plansOf } from '../../support/plans.ts';
import { createClient, createProject } from '../../support/records.ts';
import { parametersOf, routeTable } from '../../support/route-table.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

// biome-ignore lint/suspicious/noExplicitAny: records of every shape.
type Listed = any;

/** The address of the next page, as a caller takes it from the header. */
function nextOf(headers: Headers): string | undefined {
  return /<([^>]+)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1];
}

async function page(path: string, key: string): Promise<{ data: Listed[]; next: string | undefined }> {
  const { status, body, headers } = await gateway.get(path, { key });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return { data: body.data, next: nextOf(headers) };
}

/** Every record of a list, page by page. @param between runs after each page. */
async function walk(path: string, key: string, between: (seen: Listed[]) => Promise<void> = async () => {}) {
  const seen: Listed[] = [];
  for (let at: string | undefined = path; at !== undefined; ) {
    const { data, next } = await page(at, key);
    seen.push(...data);
    await between(data);
    at = next;
  }
  return seen;
}

const ids = (records: Listed[]) => records.map(({ id }) => id as string);

async function freshAccount() {
  const account = await gateway.workspace.account();
  const call = { key: account.key };
  const project = await createProject(gateway, {}, call);
  return { ...account, call, project };
}

type Account = Awaited<ReturnType<typeof freshAccount>>;

const DAYS = ['2026-11-02', '2026-11-03', '2026-11-04'] as const;

async function logTime({ call, project }: Account, date: string) {
  const { body } = await gateway.post('/api/v1/time-entries', { project_id: project.id, hours: 1, date }, call);
  return body.data.id as string;
}

type Step = { kind: 'create'; date: (typeof DAYS)[number] } | { kind: 'patch' | 'move' | 'remove'; pick: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), date: fc.constantFrom(...DAYS) }),
  fc.record({ kind: fc.constantFrom('patch' as const, 'move' as const, 'remove' as const), pick: fc.nat() }),
);

/** Records the changes of the entries, from which the expected result of a walk follows. */
function journalOf(account: Account, alive: string[]) {
  const removed = new Set<string>();
  const moved = new Set<string>();
  const created = new Set<string>();
  const take = async (one: Step) => {
    const path = (id: string) => `/api/v1/time-entries/${id}`;
    if (one.kind === 'create') {
      const id = await logTime(account, one.date);
      created.add(id);
      alive.push(id);
      return;
    }
    if (alive.length === 0) return;
    const index = one.pick % alive.length;
    const id = alive[index] as string;
    if (one.kind === 'remove') {
      await gateway.delete(path(id), account.call);
      alive.splice(index, 1);
      removed.add(id);
    } else {
      const change = one.kind === 'move' ? { date: DAYS[one.pick % DAYS.length] } : { hours: 1 + (one.pick % 9) / 4 };
      await gateway.patch(path(id), change, account.call);
      moved.add(id);
    }
  };
  return { take, removed, moved, created };
}

/** Orders in which a change of a record can move it, and those in which it cannot. */
const ORDERS = [
  '',
  'sort=created_at',
  'sort=-created_at',
  'sort=date',
  'sort=-date',
  'sort=updated_at',
  'sort=-updated_at',
];

test('when records are created, changed and removed between pages, then no page repeats one or skips one that stayed where it was', async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...ORDERS),
    fc.integer({ min: 1, max: 4 }),
    fc.array(fc.constantFrom(...DAYS), { minLength: 3, maxLength: 9 }),
    fc.array(fc.array(step, { maxLength: 3 }), { minLength: 1, maxLength: 6 }),
    async (order, limit, dates, plan) => {
      const account = await freshAccount();
      const alive: string[] = [];
      for (const date of dates) alive.push(await logTime(account, date));
      const stayed = new Set(alive);
      const journal = journalOf(account, alive);
      const steps = [...plan];
      const seen = await walk(`/api/v1/time-entries?limit=${limit}&${order}`, account.key, async () => {
        for (const one of steps.shift() ?? []) await journal.take(one);
      });

      const mayMove = !order.includes('created_at'); // The others order by `date`, the default, or by `updated_at`.
      const isFixed = (id: string) => !journal.removed.has(id) && !(mayMove && journal.moved.has(id));
      const fixed = ids(seen).filter(isFixed);
      expect(fixed).toEqual([...new Set(fixed)]);
      expect([...stayed].filter((id) => isFixed(id) && !fixed.includes(id))).toEqual([]);
    },
  );
  await fc.assert(property, runs(40));
});

test('when records do not change while a list is paged, then the pages together are in its order', async () => {
  const account = await freshAccount();
  for (let index = 0; index < 10; index += 1) await logTime(account, DAYS[index % 3] as string);
  for (const order of ORDERS) {
    const whole = await page(`/api/v1/time-entries?limit=100&${order}`, account.key);
    const parts = await walk(`/api/v1/time-entries?limit=3&${order}`, account.key);
    expect([order, ids(parts)]).toEqual([order, ids(whole.data)]);
  }
});

test('when a record of the first page is changed before the second is read, then a copy still has every record', async () => {
  const account = await freshAccount();
  for (let index = 0; index < 6; index += 1) await logTime(account, DAYS[0]);
  const path = '/api/v1/time-entries?sort=updated_at&updated_since=2000-01-01T00:00:00Z&limit=3';
  let changes = 0;
  const seen = await walk(path, account.key, async ([first]) => {
    changes += 1;
    if (changes === 1) await gateway.patch(`/api/v1/time-entries/${first.id}`, { hours: 2 }, account.call);
  });

  expect(new Set(ids(seen)).size).toBe(6);
  expect(seen.at(-1)).toMatchObject({ id: seen[0].id, hours: 2 });
});

test('when a copy follows updated_at while several writers run, then it ends equal to the records', async () => {
  const account = await freshAccount();
  const alive: string[] = [];
  for (let index = 0; index < 20; index += 1) alive.push(await logTime(account, DAYS[0]));
  const copy = new Map<string, Listed>();
  let since = '2000-01-01T00:00:00Z';
  let isDone = false;

  const writer = async (own: string[]) => {
    for (let round = 0; round < 30; round += 1) {
      const id = own[round % own.length] as string;
      if (round % 5 === 4) own.push(await logTime(account, DAYS[1]));
      else await gateway.patch(`/api/v1/time-entries/${id}`, { hours: 1 + round / 4 }, account.call);
    }
  };
  const follow = async () => {
    const path = `/api/v1/time-entries?sort=updated_at&limit=5&updated_since=${since}`;
    for (const record of await walk(path, account.key)) {
      copy.set(record.id, record);
      since = record.updated_at;
    }
  };
  const writers = [0, 1, 2, 3].map((part) => writer(alive.filter((_id, index) => index % 4 === part)));
  const following = (async () => {
    while (!isDone) await follow();
  })();
  await Promise.all(writers);
  isDone = true;
  await following;
  // Once more, for changes that were committed after the last read began.
  await follow();

  const truth = await walk('/api/v1/time-entries?limit=100', account.key);
  expect(truth).toHaveLength(44);
  expect([...copy.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1))).toEqual(
    truth.toSorted((a, b) => (a.id < b.id ? 1 : -1)),
  );
});

test('when a long list is read to its end, then a deep page reads no more records than the first, even if thousands share a day', async () => {
  const account = await freshAccount();
  const entry = {
    project_id: storedId(account.project.id),
    task_id: null,
    hours: 1,
    seconds: 3_600,
    hourly_rate: null,
  };
  const RECORDS = 12_000;
  await driverOf(TimeEntry).insertMany(
    Array.from({ length: RECORDS }, (_, index) => {
      const own = { date: DAYS[index % DAYS.length] as string, description: null };
      return { ...newRecord(account.id), ...entry, ...own };
    }),
  );
  for (const order of ORDERS) {
    // The deepest page that an offset reaches in one step supplies the cursor.
    const deep = await page(`/api/v1/time-entries?limit=20&offset=${RECORDS - 500}&${order}`, account.key);
    let data: Listed[] = [];
    const plans = await plansOf(TimeEntry.collection.name, async () => {
      ({ data } = await page(deep.next as string, account.key));
    });
    const finds = plans.filter(({ command }) => command === 'find');
    const examined = finds.reduce((sum, { docsExamined }) => sum + docsExamined, 0);
    expect([order, finds.some(({ hasSortStage }) => hasSortStage), data.length]).toEqual([order, false, 20]);
    expect(examined).toBeLessThanOrEqual(22);
    // Not even the index keys, which an offset has to skip over.
    expect(finds.reduce((sum, { keysExamined }) => sum + keysExamined, 0)).toBeLessThanOrEqual(26);
  }
});

const lists = routeTable.filter((row) => row.method === 'get' && 'limit' in parametersOf(row));

test('when the lists are compared, then each accepts a cursor, except the feed, which has a sequence, and sums, which are no records', () => {
  expect(lists.length).toBeGreaterThan(10);
  expect(lists.filter((row) => !hasCursor(row)).map(({ operation }) => operation)).toEqual([
    'listUnbilledTime',
    'listEvents',
  ]);
});

describe('a cursor', () => {
  let cursor: string;
  beforeAll(async () => {
    for (let index = 0; index < 3; index += 1) await createClient(gateway);
    const next = (await page('/api/v1/clients?limit=1&sort=name', gateway.account.key)).next ?? '';
    cursor = new URL(next, gateway.url).searchParams.get('after') ?? '';
  });

  test.each([
    ['is invalid', 'sort=name&after=zzz', 'cursor of a `Link` header'],
    [
      'holds an operator',
      `sort=name&after=${Buffer.from('["x","y","value",{"$gt":""}]').toString('base64url')}`,
      'cursor',
    ],
    ['is empty', 'sort=name&after=', 'not allowed to be empty'],
    ['is of another order', 'sort=-name&after=CURSOR', 'another order'],
    ['is of other filters', 'sort=name&q=ada&after=CURSOR', 'other filters'],
    ['comes with an offset', 'sort=name&offset=1&after=CURSOR', 'exclude each other'],
    ['comes twice', 'sort=name&after=CURSOR&after=CURSOR', 'must not be repeated'],
  ])('when it %s, then 400 and the message says so', async (_what, query, message) => {
    const { status, body } = await gateway.get(`/api/v1/clients?${query.replaceAll('CURSOR', cursor)}`);

    expect([status, body.error]).toEqual([400, 'Validation failed']);
    expect(body.details.after.join()).toContain(message);
  });

  test('when it belongs to another list, then 400, which for quotes has a list of messages', async () => {
    const { status, body } = await gateway.get(`/api/v1/quotes?after=${cursor}`);

    expect([status, body.details]).toEqual([400, ['after belongs to a list of another order or with other filters']]);
  });

  test('when the page size changes between pages, then the cursor is still valid', async () => {
    const { data } = await page(`/api/v1/clients?limit=2&sort=name&after=${cursor}`, gateway.account.key);

    expect(data).toHaveLength(2);
  });

  test('when the record of the cursor is removed, then the next page is the same', async () => {
    const account = await freshAccount();
    for (const date of [...DAYS, ...DAYS]) await logTime(account, date);
    const { data, next } = await page('/api/v1/time-entries?limit=2', account.key);
    const before = ids((await page(next as string, account.key)).data);
    await gateway.delete(`/api/v1/time-entries/${data[1].id}`, account.call);

    expect(ids((await page(next as string, account.key)).data)).toEqual(before);
  });

  test('when names are too long for a URL, then the cursor refers to the record, and 400 when it was deleted', async () => {
    const { key } = await gateway.workspace.account();
    const call = { key };
    for (const letter of ['a', 'b', 'c']) await createClient(gateway, { name: letter + '語'.repeat(1_900) }, call);
    const names = (await walk('/api/v1/clients?limit=1&sort=name', key)).map(({ name }) => name[0]);
    const { data, next } = await page('/api/v1/clients?limit=1&sort=name', key);
    await gateway.delete(`/api/v1/clients/${data[0].id}`, call);
    const gone = await gateway.get(next as string, call);

    expect(names).toEqual(['a', 'b', 'c']);
    expect((next as string).length).toBeLessThan(1_000);
    expect([gone.status, gone.body.details.after[0]]).toEqual([400, expect.stringContaining('is gone')]);
  });

  test.each(['keys', 'webhooks', 'numbering/audit?'])(
    'when GET /%s is read page by page, then every record is listed once',
    async (name) => {
      const account = await freshAccount();
      for (let index = 0; index < 5; index += 1) {
        const of = `${name}${index}`.replace(/\W/g, '');
        await gateway.post('/api/v1/keys', { name: of, scopes: ['clients:read'] }, account.call);
        await gateway.post('/api/v1/webhooks', { url: `http://127.0.0.1:9/${of}`, events: ['*'] }, account.call);
        const client_id = account.project.client.id;
        await gateway.post('/api/v1/invoices', { client_id, amount: 1, due_date: '2099-12-31' }, account.call);
        await gateway.post('/api/v1/quotes', { client_id, amount: 1 }, account.call);
      }
      const items: string[] = [];
      let at: string | undefined = `/api/v1/${name}${name.endsWith('?') ? '' : '?'}limit=2`;
      for (; at !== undefined; ) {
        const { body, headers } = await gateway.get(at, account.call);
        items.push(...(body.data.numbers ?? body.data).map((item: Listed) => item.number ?? item.id));
        at = nextOf(headers);
      }
      const whole = (await gateway.get(`/api/v1/${name.replace('?', '')}?limit=100`, account.call)).body.data;
      expect(items.length).toBeGreaterThan(4);
      expect(items).toEqual((whole.numbers ?? whole).map((item: Listed) => item.number ?? item.id));
    },
  );
});
