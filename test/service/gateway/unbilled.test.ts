// The overview of unbilled work: a page has the rows and the total that the whole list has, whatever they are made of.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { issueApiKey } from '#libs/models/accounts/api-key.ts';
import { callerOf, startGateway, type TestGateway, verbsOf } from '../../support/gateway.ts';
import type { AnyRecord } from '../../support/records.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const date = '2026-11-02';

test('when rows of time, expenses and fixed amounts are read page by page, then they are those of the whole list, by name', async () => {
  const { key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const made = async (path: string, body: object): Promise<AnyRecord> => {
    const reply = await api.post(`/api/v1/${path}`, body);
    expect([reply.status, reply.body.error]).toEqual([201, undefined]);
    return reply.body.data;
  };
  const list = async (query = '') => (await api.get(`/api/v1/unbilled${query}`)).body;
  const client = async (name: string, more: object = {}) =>
    (await made('clients', { name, email: 'a@example.com', hourly_rate: 10, ...more })).id as string;
  const project = async (name: string, client_id: string, more: object = {}) =>
    (await made('projects', { name, client_id, ...more })).id as string;
  const log = (project_id: string, more: object = {}) => made('time-entries', { project_id, hours: 1, date, ...more });
  const spend = (project_id: string, currency: string) =>
    made('expenses', { project_id, description: 'Train', amount: 5, date, currency });

  const [grace, ada, emile] = [await client('grace'), await client('Ada', { currency: 'EUR' }), await client('Émile')];
  const [zeta, alpha, other] = [await project('Zeta', ada), await project('alpha', ada), await project('Same', grace)];
  await log(zeta, { member: 'Renée' });
  await log(alpha, { hours: 2 });
  await spend(alpha, 'EUR');
  await spend(alpha, 'CHF');
  await log(other, { member: 'Rene\u0301e' });
  await spend(await project('Same', emile), 'GBP');
  await project('House', grace, { billing: 'fixed', fixed_amount: 100, currency: 'USD' });
  const fixed = await project('Barn', grace, { billing: 'fixed', fixed_amount: 50, currency: 'USD' });
  await made(`projects/${fixed}/bill`, { part: 'final' });
  await spend(fixed, 'USD');
  await log(await project('Free', grace, { billing: 'none' }));
  await log(await project('Later', grace), { date: '2999-01-01' });
  await project('Idle', grace);

  const whole = await list();
  const rows = whole.data.map((row: AnyRecord) => [
    row.client.name,
    row.project.name,
    row.currency,
    row.entries,
    row.expenses,
  ]);
  expect(rows).toEqual([
    ['Ada', 'alpha', 'CHF', 0, 1],
    ['Ada', 'alpha', 'EUR', 1, 1],
    ['Ada', 'Zeta', 'EUR', 1, 0],
    ['Émile', 'Same', 'GBP', 0, 1],
    ['grace', 'Barn', 'USD', 0, 1],
    ['grace', 'House', 'USD', 0, 0],
    ['grace', 'Same', 'USD', 1, 0],
  ]);
  expect(whole.pagination.total).toBe(rows.length);
  for (const limit of [1, 2, 3]) {
    const pages: AnyRecord[] = [];
    for (let offset = 0; offset < rows.length; offset += limit) {
      const page = await list(`?limit=${limit}&offset=${offset}`);
      expect([page.data.length <= limit, page.pagination.total]).toEqual([true, rows.length]);
      pages.push(...page.data);
    }
    expect(pages).toEqual(whole.data);
  }
  expect(await list('?offset=100')).toMatchObject({ data: [], pagination: { total: rows.length } });
  expect(await list(`?client_id=${ada}&limit=2&offset=1`)).toMatchObject({
    data: whole.data.slice(1, 3),
    pagination: { total: 3 },
  });
  // Exactly as it was given: another form of the same character is another person.
  for (const [member, name] of [
    ['Renée', 'Zeta'],
    ['Rene\u0301e', 'Same'],
    ['Ren.e', undefined],
  ] as const) {
    const found = (await list(`?member=${encodeURIComponent(member)}`)).data;
    expect(found.map((row: AnyRecord) => row.project.name)).toEqual(name ? [name] : []);
  }
});

test('when the key may not read expenses, then their sums and rows are left out', async () => {
  const { id, key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const made = async (path: string, body: object) => (await api.post(`/api/v1/${path}`, body)).body.data.id as string;
  const client_id = await made('clients', { name: 'Ada', email: 'a@example.com', hourly_rate: 10, currency: 'EUR' });
  const project_id = await made('projects', { name: 'Zeta', client_id });
  await made('time-entries', { project_id, hours: 1, date });
  for (const currency of ['EUR', 'CHF'])
    await made('expenses', { project_id, description: 'Train', amount: 5, date, currency });
  const rowsWith = async (scopes: string[]) => {
    const { key: limited } = await issueApiKey({ accountId: id, name: 'limited', scopes });
    const { body } = await callerOf(gateway.url, limited)('GET', '/api/v1/unbilled');
    const rows = body.data.map((row: AnyRecord) => [row.currency, row.entries, row.expenses, row.expense_amount]);
    return [rows, body.pagination.total];
  };

  expect(await rowsWith(['time-entries:read'])).toEqual([[['EUR', 1, 0, 0]], 1]);
  expect(await rowsWith(['time-entries:read', 'expenses:read'])).toEqual([
    [
      ['CHF', 0, 1, 5],
      ['EUR', 1, 1, 5],
    ],
    2,
  ]);
});
