// The rate of time is settled when it is logged; what is changed elsewhere counts for new work, and for unbilled work on request.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { issueApiKey } from '#libs/models/accounts/api-key.ts';
import { callerOf, startGateway, type TestGateway, verbsOf } from '../../support/gateway.ts';
import type { AnyRecord } from '../../support/records.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

async function world() {
  const { id, key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const made = async (name: string, body: object): Promise<string> =>
    (await api.post(`/api/v1/${name}`, body)).body.data.id;
  const client = await made('clients', { name: 'Ada', email: 'ada@example.com' });
  const project = await made('projects', { name: 'Engine', client_id: client });
  const task = await made('tasks', { name: 'Drawings', project_id: project });
  const entry = async (of: string) => (await api.get(`/api/v1/time-entries/${of}`)).body.data as AnyRecord;
  return {
    account: id,
    api,
    client,
    project,
    task,
    made,
    entry,
    log: (fields: object = {}) =>
      made('time-entries', { project_id: project, task_id: task, hours: 1, date: '2026-11-02', ...fields }),
    rate: async (of: string) => {
      const { rate, rate_from } = await entry(of);
      return [rate, rate_from];
    },
    bill: async () =>
      (await api.post('/api/v1/invoices/from-time?dry_run=true', { client_id: client })).body.data?.amount,
    changed: async () =>
      (await api.get('/api/v1/events?limit=100')).body.data.filter(
        ({ type }: AnyRecord) => type === 'time_entry.updated',
      ).length,
  };
}

const HOLDERS = [
  ['task', 'rate'],
  ['project', 'hourly_rate'],
  ['client', 'hourly_rate'],
  ['account', 'hourly_rate'],
] as const;

test.each(HOLDERS)(
  'when the rate of the %s is changed, then new time has it, unbilled time only on request, and given and billed rates stay',
  async (holder, field) => {
    const w = await world();
    const path = holder === 'account' ? '/api/v1/account' : `/api/v1/${holder}s/${w[holder]}`;
    const set = async (rate: number | null, apply_to?: string) =>
      (await w.api.patch(path, { [field]: rate, ...(apply_to ? { apply_to } : {}) })).status;
    expect(await set(50)).toBe(200);
    const [before, given, billed] = [await w.log(), await w.log({ hourly_rate: 70 }), await w.log()];
    await w.made('invoices/from-time', { client_id: w.client, time_entry_ids: [billed] });
    expect(await w.rate(before)).toEqual([50, holder]);
    expect(await set(60)).toBe(200);
    const after = await w.log();
    expect([await w.rate(before), await w.rate(after), await w.bill()]).toEqual([[50, holder], [60, holder], 180]);
    const { updated_at } = await w.entry(before);
    const events = await w.changed();
    expect(await set(60, 'unbilled')).toBe(200);
    expect([await w.rate(before), await w.rate(given), await w.rate(billed)]).toEqual([
      [60, holder],
      [70, 'entry'],
      [50, holder],
    ]);
    const now = await w.entry(before);
    expect([now['updated_at'] > updated_at, await w.changed(), await w.bill()]).toEqual([true, events + 1, 190]);
    expect(await set(60, 'unbilled')).toBe(200);
    expect([await w.entry(before), await w.changed()]).toEqual([now, events + 1]);
    expect(await set(null, 'unbilled')).toBe(200);
    expect([await w.rate(before), await w.rate(given)]).toEqual([
      [null, null],
      [70, 'entry'],
    ]);
  },
);

test('when several rates are set, then a more general one changes no time that has a closer one', async () => {
  const w = await world();
  await w.api.patch(`/api/v1/projects/${w.project}`, { hourly_rate: 80 });
  const id = await w.log();
  await w.api.patch(`/api/v1/clients/${w.client}`, { hourly_rate: 90, apply_to: 'unbilled' });
  expect(await w.rate(id)).toEqual([80, 'project']);
  await w.api.patch(`/api/v1/projects/${w.project}`, { hourly_rate: null, apply_to: 'unbilled' });
  expect(await w.rate(id)).toEqual([90, 'client']);
});

test.each(HOLDERS)(
  'when the rate of the %s is applied and would change locked time, then 409 and nothing is changed; what stays the same may be locked',
  async (holder, field) => {
    const w = await world();
    const path = holder === 'account' ? '/api/v1/account' : `/api/v1/${holder}s/${w[holder]}`;
    const apply = (rate: number) => w.api.patch(path, { [field]: rate, apply_to: 'unbilled' });
    await apply(50);
    const locked = await w.log({ date: '2026-10-31' });
    const open = await w.log();
    await w.api.patch('/api/v1/account', { time_locked_before: '2026-11-01' });

    expect(await apply(60)).toMatchObject({
      status: 409,
      body: { code: 'time_locked', params: { day: '2026-11-01' } },
    });

    expect([await w.rate(locked), await w.rate(open)]).toEqual([
      [50, holder],
      [50, holder],
    ]);
    expect((await w.api.get(path)).body.data[field]).toBe(50);
    expect((await apply(50)).status).toBe(200);
  },
);

test('when people have rates of their own, then each has the closest one, and another person settles it anew', async () => {
  const w = await world();
  const member_rates = [{ member: 'Ada', rate: 120 }];
  await w.api.patch(`/api/v1/clients/${w.client}`, { hourly_rate: 90, member_rates });
  const [ada, grace, given] = [
    await w.log({ member: 'Ada' }),
    await w.log({ member: 'Grace' }),
    await w.log({ member: 'Ada', hourly_rate: 70 }),
  ];
  expect([await w.rate(ada), await w.rate(grace), await w.rate(given)]).toEqual([
    [120, 'client'],
    [90, 'client'],
    [70, 'entry'],
  ]);
  await w.api.patch(`/api/v1/time-entries/${grace}`, { member: 'Ada' });
  await w.api.patch(`/api/v1/time-entries/${given}`, { member: 'Grace' });
  expect([await w.rate(grace), await w.rate(given)]).toEqual([
    [120, 'client'],
    [70, 'entry'],
  ]);
  const project = { hourly_rate: null, member_rates: [{ member: 'Ada', rate: 150 }], apply_to: 'unbilled' };
  expect((await w.api.patch(`/api/v1/projects/${w.project}`, project)).body.data.member_rates).toEqual(
    project.member_rates,
  );
  expect([await w.rate(ada), await w.rate(await w.log({ member: 'Grace' }))]).toEqual([
    [150, 'project'],
    [90, 'client'],
  ]);
  const twice = { member_rates: [...member_rates, ...member_rates] };
  expect((await w.api.patch(`/api/v1/clients/${w.client}`, twice)).status).toBe(400);
});

test('when time of several people waits for a rate, then what is unbilled counts each at the rate of its member', async () => {
  const w = await world();
  for (const member of ['Ada', 'Grace']) await w.log({ member });
  await w.api.patch(`/api/v1/clients/${w.client}`, { member_rates: [{ member: 'Ada', rate: 120 }] });
  expect((await w.api.get('/api/v1/unbilled')).body.data[0]).toMatchObject({ amount: 120, without_rate: 1 });
});

test('when time was logged without any rate, then it has none until it is billed at the rate of that day', async () => {
  const w = await world();
  const id = await w.log();
  await w.api.patch(`/api/v1/clients/${w.client}`, { hourly_rate: 90 });
  expect([await w.rate(id), await w.bill()]).toEqual([[null, null], 90]);
  expect((await w.api.get('/api/v1/unbilled')).body.data[0]).toMatchObject({ amount: 90, without_rate: 0 });
  await w.made('invoices/from-time', { client_id: w.client });
  expect(await w.rate(id)).toEqual([90, 'client']);
});

test('when time moves to another task, then its rate is settled anew unless it was given, and null takes a given one back', async () => {
  const w = await world();
  await w.api.patch(`/api/v1/tasks/${w.task}`, { rate: 50 });
  const dear = await w.made('tasks', { name: 'Wheels', project_id: w.project, rate: 120 });
  const [own, given] = [await w.log(), await w.log({ hourly_rate: 70 })];
  const change = (id: string, body: object) => w.api.patch(`/api/v1/time-entries/${id}`, body);
  await change(own, { hours: 2 });
  expect(await w.rate(own)).toEqual([50, 'task']);
  for (const id of [own, given]) await change(id, { task_id: dear });
  expect([await w.rate(own), await w.rate(given)]).toEqual([
    [120, 'task'],
    [70, 'entry'],
  ]);
  expect((await change(given, { hourly_rate: null })).body.data.hourly_rate).toBe(120);
  await change(own, { hourly_rate: 33 });
  expect([await w.rate(own), await w.rate(given)]).toEqual([
    [33, 'entry'],
    [120, 'task'],
  ]);
  await change(given, { task_id: null });
  expect(await w.entry(given)).toMatchObject({ rate: null, rate_from: null, hourly_rate: null });
});

test('when a key may not write time, or apply_to stands alone, then nothing is changed', async () => {
  const w = await world();
  const { key } = await issueApiKey({ accountId: w.account, name: 'crm', scopes: ['clients:write'] });
  const path = `/api/v1/clients/${w.client}`;
  const lacking = await w.api.patch(path, { hourly_rate: 9, apply_to: 'unbilled' }, { key });
  expect([lacking.status, lacking.body.error]).toEqual([403, 'Forbidden: API key lacks the time-entries:write scope']);
  expect((await w.api.patch(path, { hourly_rate: 9, apply_to: 'new' }, { key })).status).toBe(200);
  expect((await w.api.patch(path, { apply_to: 'unbilled' })).status).toBe(400);
});
