// Filters of the lists of invoices and quotes: several statuses, number, days, text, and all of them combined.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { Client, searchOf } from '#libs/models/accounts/client.ts';
import { CLIENTS_SEARCHED } from '#libs/models/billing/document-search.ts';
import { driverOf } from '#libs/models/records.ts';
import { newRecord } from '#libs/models/tenant.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, create, createClient } from '../../support/records.ts';

const today = dayIn('UTC');
const days = (count: number) => addDays(today, count);

let gateway: TestGateway;
let account: { id: string; key: string };
let ada: AnyRecord;
let grace: AnyRecord;
beforeAll(async () => {
  gateway = await startGateway();
  account = await gateway.workspace.account();
  await gateway.patch('/api/v1/account', { allow_backdating: true }, account);
  ada = await createClient(gateway, { name: 'Ada Lovelace', company_name: 'Müller & Söhne' }, account);
  grace = await createClient(gateway, { name: 'Grace Hopper' }, account);
});
afterAll(() => gateway.close());

interface Made {
  name: string;
  status: string;
  issued: number;
  until: number;
  client: 'ada' | 'grace';
  description?: string;
}

const records: Made[] = [
  { name: 'draft', status: 'Draft', issued: -2, until: 10, client: 'ada', description: 'Logo (first draft)' },
  { name: 'late', status: 'Sent', issued: -40, until: -10, client: 'ada', description: 'Website' },
  { name: 'open', status: 'Sent', issued: -5, until: 5, client: 'grace', description: 'Logo 100%' },
  { name: 'done', status: 'Done', issued: -60, until: -30, client: 'grace' },
];

describe.each([
  ['invoices', 'due_date', 'Overdue', 'Paid', 'by-field'],
  ['quotes', 'expires_at', 'Expired', 'Accepted', 'list'],
] as const)('%s', (kind, until, passed, done, form) => {
  const path = `/api/v1/${kind}`;
  const word = kind === 'invoices' ? 'INV' : 'QUO';
  const names = new Map<string, string>();

  beforeAll(async () => {
    for (const record of records) {
      const { id } = await create(
        gateway,
        path,
        {
          client_id: record.client === 'ada' ? ada.id : grace.id,
          amount: 1,
          description: record.description,
          issue_date: days(record.issued),
          [until]: days(record.until),
          status: record.status === 'Draft' ? 'Draft' : 'Sent',
        },
        account,
      );
      if (record.status === 'Done') await gateway.patch(`${path}/${id}`, { status: done }, account);
      names.set(id, record.name);
    }
  });

  const list = (query: string) => gateway.get(`${path}?${query}`, account);
  const found = async (query: string) => {
    const { status, body } = await list(query);
    expect([status, body.pagination?.total]).toEqual([200, body.data?.length]);
    return body.data.map(({ id }: AnyRecord) => names.get(id));
  };

  test.each([
    [`status=${passed}`, ['late']],
    [`status=Sent,${passed}`, ['open', 'late']],
    [`status=Draft,${passed}`, ['late', 'draft']],
    ['status=Draft,Sent', ['open', 'draft']],
    [`status=${done},Sent,${done}`, ['done', 'open']],
    [`number=${word}-0002`, ['late']],
    [`number=${word}-0002&status=Sent`, []],
    [`number=${word}-0002&status=${passed}&sort=${until}`, ['late']],
    [`number=${word}-000`, []],
    [`issue_date_from=${days(-40)}&issue_date_to=${days(-5)}`, ['open', 'late']],
    [`issue_date_to=${days(-6)}&sort=created_at`, ['late', 'done']],
    [`${until}_from=${days(-10)}`, ['draft', 'open', 'late']],
    [`${until}_to=${days(-1)}&status=${passed},Draft`, ['late']],
    [`issue_date_from=${days(-50)}&status=Sent,${passed}&q=LOGO`, ['open']],
    ['q=logo', ['open', 'draft']],
    ['q=100%25', ['open']],
    ['q=(first', ['draft']],
    [`q=${word.toLowerCase()}-0003`, ['open']],
    ['q=muller', ['late', 'draft']],
    ['q=hopper&status=Sent', ['open']],
    [`q=hopper&${until}_to=${days(0)}&sort=${until}`, ['done']],
    ['q=nothing', []],
    ['q=', ['done', 'open', 'late', 'draft']],
  ])('when it is filtered by %s, then exactly these are found', async (query, expected) => {
    expect(await found(query)).toEqual(expected);
  });

  test('when the pages of a filtered list are followed by cursor, then together they are the whole list', async () => {
    for (const query of [
      `status=Sent,${passed},Draft&sort=${until}`,
      `issue_date_from=${days(-90)}`,
      `q=o&status=Draft,${passed}`,
    ]) {
      const whole = await found(query);
      const pages: (string | undefined)[] = [];
      for (let link = `${path}?${query}&limit=1`; link; ) {
        const { body, headers } = await gateway.get(link, account);
        pages.push(...body.data.map(({ id }: AnyRecord) => names.get(id)));
        link = /<([^>]+)>; rel="next"/.exec(String(headers.get('Link')))?.[1] ?? '';
      }
      expect(pages).toEqual(whole);
    }
  });

  test('when the client of a draft is renamed, then the draft is found by the new name, and sent documents by the old one', async () => {
    await gateway.patch(`/api/v1/clients/${ada.id}`, { name: 'Countess' }, account);
    expect([await found('q=countess'), await found('q=lovelace')]).toEqual([['draft'], ['late']]);
    await gateway.patch(`/api/v1/clients/${ada.id}`, { name: 'Ada Lovelace' }, account);
  });

  test('when a description changes, then the document is found by the new one', async () => {
    const [id = ''] = [...names].find(([, name]) => name === 'draft') ?? [];
    await gateway.patch(`${path}/${id}`, { description: 'Brochure' }, account);
    expect([await found('q=brochure'), await found('q=first')]).toEqual([['draft'], []]);
    await gateway.patch(`${path}/${id}`, { description: 'Logo (first draft)' }, account);
  });

  test.each([
    ['status=Sent,', 'status'],
    ['status=Sent,Gone', 'status'],
    ['status=Sent%20,Draft', 'status'],
    ['issue_date_from=2026-02-30', 'issue_date_from'],
    [`${until}_to=tomorrow`, `${until}_to`],
    [`q=${'x'.repeat(101)}`, 'q'],
  ])('when the query is %s, then 400', async (query, name) => {
    const { status, body } = await list(query);

    expect([status, body.error]).toEqual([400, 'Validation failed']);
    if (form === 'list') expect(body.details).toEqual([expect.stringContaining(name)]);
    else expect(Object.keys(body.details)).toEqual([name]);
  });
});

test('when a text matches the names of too many clients, then 400 asks for a longer one', async () => {
  const own = await gateway.workspace.account();
  const faces = { name: 'Zed', email: 'z@example.com' };
  const clients = Array.from({ length: CLIENTS_SEARCHED + 1 }, () => ({
    ...newRecord(own.id),
    ...faces,
    search: searchOf(faces),
    status: 'invited',
  }));
  await driverOf(Client).insertMany(clients);
  const { status, body } = await gateway.get('/api/v1/invoices?q=zed', own);

  expect([status, body.details]).toEqual([400, { q: ['q finds more than 1000 clients: use a longer text'] }]);
});
