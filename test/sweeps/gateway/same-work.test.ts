// The same work is the same money over HTTP: however it is grouped, split into invoices, or put on a draft and taken off again.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TIME_GROUPS } from '#libs/rules/time/time-lines.ts';
import { runs } from '../../support/form.ts';
import { callerOf, startGateway, type TestGateway, verbsOf } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

async function world(fields: object = {}) {
  const { key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const path = (name: string) => `/api/v1/${name}`;
  const made = async (name: string, body: object): Promise<string> => {
    const { status, body: answer } = await api.post(path(name), body);
    expect([status, answer.error]).toEqual([201, undefined]);
    return answer.data.id;
  };
  const client = await made('clients', { name: 'Ada', email: 'ada@example.com', ...fields });
  const bill = async (body: object = {}) => {
    const { data } = (await api.post(path('invoices/from-time'), { client_id: client, missing_rate: 'zero', ...body }))
      .body;
    return data as { id: string; amount: number };
  };
  return {
    client,
    made,
    bill,
    project: (name: string, more: object = {}) => made('projects', { name, client_id: client, ...more }),
    sell: (hours: number, more: object = {}) => made('hour-packages', { client_id: client, hours, ...more }),
    log: (project_id: string, hours: number, more: object) => made('time-entries', { project_id, hours, ...more }),
    read: async (id: string) => (await api.get(path(`invoices/${id}`))).body.data,
    forget: (id: string) => api.delete(path(`invoices/${id}`)),
    rename: (id: string, name: string) => api.patch(path(`projects/${id}`), { name }),
    take: async (invoice: string, time_entry_ids: string[]) =>
      (await api.post(path(`invoices/${invoice}/time-entries/release`), { time_entry_ids })).body.data,
    put: async (invoice: string, time_entry_ids: string[], more: object = {}) =>
      (await api.post(path(`invoices/${invoice}/time-entries`), { time_entry_ids, missing_rate: 'zero', ...more })).body
        .data,
  };
}

test('when ten prepaid hours meet a dear project of the 2nd and a cheap one of the 20th, then the cheap one is charged, however both are billed', async () => {
  const w = await world();
  const alpha = await w.project('Alpha', { hourly_rate: 50 });
  const beta = await w.project('Beta', { hourly_rate: 200 });
  await w.sell(10);
  const late = await w.log(alpha, 10, { date: '2026-11-20' });
  const early = await w.log(beta, 10, { date: '2026-11-02' });
  for (const group_by of TIME_GROUPS) {
    const { id, amount } = await w.bill({ group_by });
    expect([group_by, amount]).toEqual([group_by, 500]);
    await w.forget(id);
  }
  await w.rename(beta, 'Aardvark');
  const renamed = await w.bill({ group_by: 'project' });
  expect(renamed.amount).toBe(500);
  expect((await w.take(renamed.id, [early])).amount).toBe(500);
  expect((await w.put(renamed.id, [early])).amount).toBe(500);
  expect((await w.take(renamed.id, [late])).amount).toBe(0);
  await w.forget(renamed.id);
  const second = await w.bill({ project_ids: [alpha] });
  expect([second.amount, (await w.bill({ project_ids: [beta] })).amount]).toEqual([500, 0]);
});

test('when hours of a fee cover a part of the work, then it is the earliest, however the lines are grouped', async () => {
  const w = await world();
  const alpha = await w.project('Alpha', { hourly_rate: 50 });
  const beta = await w.project('Beta', { hourly_rate: 200 });
  await w.log(alpha, 10, { date: '2026-11-20' });
  await w.log(beta, 10, { date: '2026-11-02' });
  for (const group_by of ['project', 'day'] as const) {
    const recurring = await w.made('recurring-invoices', {
      client_id: w.client,
      line_items: [{ description: 'Fee', quantity: 1, rate: 450 }],
      schedule: { unit: 'month', start_on: '2031-01-31' },
      include_time: { group_by, included_hours: 10 },
    });
    const { id, amount } = await w
      .made(`recurring-invoices/${recurring}/run`, {})
      .then(async (invoice) => ({ id: invoice, amount: (await w.read(invoice)).amount }));
    expect([group_by, amount]).toEqual([group_by, 950]);
    await w.forget(id);
  }
});

const anyTime = fc.record({
  project: fc.nat({ max: 1 }),
  hours: fc.integer({ min: 1, max: 40 }).map((count) => count / 4),
  date: fc.constantFrom('2026-11-02', '2026-11-03', '2026-11-20'),
  hourly_rate: fc.constantFrom(null, 0, 50, 120, 200),
});
const anyPackage = fc.record({
  hours: fc.integer({ min: 1, max: 6 }),
  project: fc.option(fc.nat({ max: 1 })),
  valid_until: fc.option(fc.constantFrom('2026-11-03', '2026-11-30')),
  rollover: fc.boolean(),
});

test('when any work is billed at once, by project, entry by entry, or on a draft from which some is taken and put back, then the sum is one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyTime, { minLength: 2, maxLength: 5 }),
      fc.array(anyPackage, { minLength: 1, maxLength: 2 }),
      fc.constantFrom(null, { minutes: 30, mode: 'up', scope: 'entry' }),
      fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 4 }),
      fc.constantFrom(...TIME_GROUPS),
      async (times, packages, rounding, picks, group_by) => {
        const w = await world(rounding ? { rounding } : {});
        const projects = [await w.project('Alpha', { hourly_rate: 90 }), await w.project('Beta')];
        for (const { project, ...one } of packages) {
          await w.sell(one.hours, { ...one, ...(project === null ? {} : { project_id: projects[project] }) });
        }
        const entries: string[] = [];
        for (const { project, hours, ...one } of times)
          entries.push(await w.log(projects[project] as string, hours, one));
        const whole = await w.bill({ group_by: 'task' });
        const picked = [...new Set(picks.map((pick) => entries[pick % entries.length] as string))].slice(
          0,
          entries.length - 1,
        );
        const off = await w.take(whole.id, picked);
        expect(off.id).toBe(whole.id);
        expect((await w.put(whole.id, picked, { group_by })).amount).toBe(whole.amount);
        await w.forget(whole.id);
        const sums = [];
        for (const parts of [entries.map((id) => [id]), [picked, entries.filter((id) => !picked.includes(id))]]) {
          const made = [];
          for (const time_entry_ids of parts.toReversed()) made.push(await w.bill({ time_entry_ids, group_by }));
          sums.push(made.reduce((sum, { amount }) => sum + amount, 0));
          for (const { id } of made) await w.forget(id);
        }
        expect(sums).toEqual([whole.amount, whole.amount]);
      },
    ),
    { ...runs(12), endOnFailure: true },
  );
});
