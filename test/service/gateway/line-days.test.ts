// The days of lines: where the fee and the work of a recurring invoice have different days, each line shows its own.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { callerOf, startGateway, type TestGateway, verbsOf } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** The day of the occurrence that is run: of its month no other is due. */
const DUE = dayIn('UTC');
const written = (day: string, locale = 'en-US') =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(`${day}T00:00:00Z`));
const days = (from: string, to: string, locale?: string) => `${written(from, locale)} – ${written(to, locale)}`;

interface Occurrence {
  id: string;
  service_period: { from: string; to: string };
  recurring: { period_from: string; period_to: string };
  line_items: { description: string }[];
}

async function agency(account: object = {}) {
  const api = verbsOf(callerOf(gateway.url, (await gateway.workspace.account()).key));
  await api.patch('/api/v1/account', { default_tax_rate: 0, ...account });
  const made = async (path: string, body: object) => (await api.post(`/api/v1/${path}`, body)).body.data;
  const client = (await made('clients', { name: 'Ada', email: 'ada@example.com', hourly_rate: 100 })).id as string;
  const project = (await made('projects', { name: 'Engine', client_id: client })).id as string;
  return {
    api,
    log: async (date: string) =>
      (await made('time-entries', { project_id: project, hours: 1, date, description: 'Mill' })).id as string,
    async run(fields: object, included: object = {}): Promise<Occurrence> {
      const recurring = await made('recurring-invoices', {
        ...{ client_id: client, schedule: { unit: 'month', start_on: DUE } },
        ...{ line_items: [{ description: 'Support', quantity: 1, rate: 450 }] },
        ...{ include_time: { group_by: 'project', ...included }, ...fields },
      });
      return made(`recurring-invoices/${recurring.id}/run`, {});
    },
  };
}

const textsOf = ({ line_items }: Pick<Occurrence, 'line_items'>) => line_items.map(({ description }) => description);

test('when the fee is in advance and work came before it, then both lines show their days, and the service period covers them', async () => {
  const { log, run } = await agency();
  const [first, last] = [addDays(DUE, -20), addDays(DUE, -4)];
  for (const day of [last, first]) await log(day);
  const { recurring, service_period, line_items } = await run({}, { included_hours: 1 });
  expect(textsOf({ line_items })).toEqual([
    `Support\n${days(DUE, recurring.period_to)}`,
    `Engine\n${days(first, last)}`,
    'Included hours',
  ]);
  expect(service_period).toEqual({ from: first, to: recurring.period_to });
});

test('when the account writes German, then so are the days', async () => {
  const { log, run } = await agency({ locale: 'de-DE' });
  const day = addDays(DUE, -4);
  await log(day);
  const { recurring, line_items } = await run({});
  expect(textsOf({ line_items })).toEqual([
    `Support\n${days(DUE, recurring.period_to, 'de-DE')}`,
    `Engine\n${written(day, 'de-DE')}`,
  ]);
});

test('when all work is within the period of the fee, then no line needs days of its own', async () => {
  const { log, run } = await agency();
  await log(addDays(DUE, -4));
  const within = await run({ fee_period: 'in_arrears' });
  expect(textsOf(within)).toEqual(['Support', 'Engine']);
});

test('when the fee is in arrears and old work comes along, then both lines show their days', async () => {
  const { log, run } = await agency();
  await log(addDays(DUE, -70));
  const { recurring, line_items } = await run({ fee_period: 'in_arrears' });
  expect(textsOf({ line_items })).toEqual([
    `Support\n${days(recurring.period_from, recurring.period_to)}`,
    `Engine\n${written(addDays(DUE, -70))}`,
  ]);
});

test('when texts name their days already, then they are not said twice', async () => {
  const { log, run } = await agency();
  const day = addDays(DUE, -4);
  await log(day);
  const line_items = [{ description: 'Support until {to}', quantity: 1, rate: 450 }];
  const invoice = await run({ line_items }, { group_by: 'entry' });
  expect(textsOf(invoice)).toEqual([`Support until ${written(invoice.recurring.period_to)}`, `${written(day)}: Mill`]);
});

test('when there is no fee, then the service period says the days of the work', async () => {
  const { log, run } = await agency();
  await log(addDays(DUE, -4));
  expect(textsOf(await run({ line_items: null }))).toEqual(['Engine']);
});

test('when time is taken off the draft and added to it, then its lines show the days that they bill', async () => {
  const { api, log, run } = await agency();
  const [first, last, later] = [addDays(DUE, -20), addDays(DUE, -4), addDays(DUE, -2)];
  await log(first);
  const removed = await log(last);
  const invoice = await run({});
  const path = `/api/v1/invoices/${invoice.id}/time-entries`;
  const less = await api.post(`${path}/release`, { time_entry_ids: [removed] });
  expect(textsOf(less.body.data)[1]).toBe(`Engine\n${written(first)}`);
  const added = await log(later);
  const more = await api.post(path, { time_entry_ids: [added], group_by: 'project' });
  expect(textsOf(more.body.data)).toEqual([
    `Support\n${days(DUE, invoice.recurring.period_to)}`,
    `Engine\n${written(first)}`,
    `Engine\n${written(later)}`,
  ]);
  const hours = (await api.get(`/api/v1/invoices/${invoice.id}/time`)).body.data;
  expect(hours.lines.map(({ description }: { description: string }) => description)).toEqual(
    textsOf(more.body.data).slice(1),
  );
});

test('when a text is as long as a line can be, then it is cut and its days stay', async () => {
  const { log, run } = await agency();
  await log(addDays(DUE, -4));
  const invoice = await run({ line_items: [{ description: 'x'.repeat(2_000), quantity: 1, rate: 450 }] });
  const [text = ''] = textsOf(invoice);
  expect([text.length, text.split('\n')[1]]).toEqual([2_000, days(DUE, invoice.recurring.period_to)]);
});
