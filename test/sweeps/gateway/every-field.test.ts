// Every field that a body accepts is stored, returned, documented and changeable; a failure names the place that omits it.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { newId } from '#libs/models/tenant.ts';
import type { Route } from '../../../services/gateway/http/route.ts';
import { type AnswerCheck, answerCheck } from '../../support/contract/answer-check.ts';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, make, REFERENCES } from '../../support/operations.ts';
import { create } from '../../support/records.ts';
import { fieldsOf, routeTable, type Shape } from '../../support/route-table.ts';

const today = dayIn('UTC');
const zurich = { line1: 'Seestrasse 7', postal_code: '8002', city: 'Zürich', country: 'CH' };
/** Two values of each field whose type alone does not determine them. */
const SAMPLES: Record<string, [unknown, unknown]> = {
  unit: ['hour', 'piece'],
  early_payment_discounts: [
    [{ days: 14, percent: 2 }],
    [
      { days: 7, percent: 3 },
      { days: 30, percent: 1.25 },
    ],
  ],
  'account.reminders': [
    [{ days: 3, template: 'reminder_2' }],
    [
      { days: -1, template: 'reminder_1' },
      { days: 30, template: 'reminder_5' },
    ],
  ],
  reminders: [
    { mode: 'on', paused_until: '2099-01-31' },
    { mode: 'off', paused_until: null },
  ],
  remind_at: ['07:30', '18:00'],
  'projects.status': ['Complete', 'Awaiting Approval'],
  line_items: [
    [{ description: 'Design', quantity: 2, rate: 50 }],
    [{ description: 'Drawings', quantity: 3, rate: 60 }],
  ],
  service_period: [
    { from: '2026-10-01', to: '2026-10-31' },
    { from: '2026-09-01', to: '2026-09-30' },
  ],
  'account.mail': [
    { from_name: 'North', reply_to: 'reply@example.com', bcc: null },
    { from_name: null, reply_to: null, bcc: 'archive@example.com' },
  ],
  issue_date: [today, addDays(today, 1)],
  events: [['client.created'], ['invoice.*']],
  url: ['http://127.0.0.1:9/one', 'http://127.0.0.1:9/other'],
  logo_url: ['https://example.com/one.png', 'https://example.com/other.png'],
  brand_color: ['#1a2b3c', '#3c2b1a'],
  time_zone: ['Europe/Berlin', 'Asia/Tokyo'],
  locale: ['de-DE', 'fr-FR'],
  project_statuses: [
    ['Open', 'Closed'],
    ['Open', 'Done'],
  ],
  rounding: [
    { minutes: 6, mode: 'up', scope: 'entry', minimum: 0 },
    { minutes: 15, mode: 'nearest', scope: 'day', minimum: 30 },
  ],
  payment_days: [7, 30],
  member_rates: [
    [{ member: 'Ada', rate: 120 }],
    [
      { member: 'Ada', rate: 125.5 },
      { member: 'Grace', rate: 0 },
    ],
  ],
  due_days: [7, 30],
  schedule: [
    { every: 1, unit: 'month', start_on: '2031-01-31', day: 31, end_on: null, count: 12 },
    { every: 2, unit: 'week', start_on: '2031-02-03', day: null, end_on: '2032-01-31', count: null },
  ],
  include_time: [
    {
      project_ids: null,
      task_ids: null,
      group_by: 'task',
      rounding: null,
      missing_rate: 'zero',
      line_text: '{task}',
      include_expenses: true,
      included_hours: 10,
      members: ['Ada', 'Grace'],
    },
    {
      project_ids: null,
      task_ids: null,
      group_by: 'day',
      rounding: { minutes: 6, mode: 'up', scope: 'entry', minimum: 0 },
      missing_rate: 'skip',
      line_text: null,
      include_expenses: false,
      included_hours: null,
      members: null,
    },
  ],
  vat_id: ['DE136695976', 'ATU13585627'],
  legal_id: [
    { value: 'HRB 1234 Kiel', scheme: null },
    { value: '303265045', scheme: '0002' },
  ],
  electronic_address: [
    { scheme: 'EM', value: 'one@example.com' },
    { scheme: '0208', value: '0417497106' },
  ],
  postal_address: [
    postalAddress('DE', { line1: 'Hafenstraße 12', postal_code: '24103', city: 'Kiel' }),
    postalAddress('US', { line1: '1 Main Street', line2: 'Floor 2', line3: 'Door 3', city: 'Austin', region: 'TX' }),
  ],
  payment_options: [
    [
      wayToPay({ type: 'bank_transfer', holder: 'Ada', iban: 'DE89370400440532013000', bic: 'COBADEFF' }),
      wayToPay({ type: 'upi', vpa: 'ada@bank', name: 'Ada' }),
      wayToPay({ type: 'link', label: 'Shop', url: 'https://shop.example/{number}' }),
    ],
    [
      wayToPay({ type: 'bank_transfer', text: 'Account 12345678, sort code 01-02-03' }),
      wayToPay({ type: 'swiss_qr', holder: 'Ada', iban: 'CH9300762011623852957', address: zurich }),
      wayToPay({ type: 'swiss_qr', holder: 'Ada', qr_iban: 'CH4431999123000889012', address: zurich }),
    ],
  ],
  started_at: ['2026-11-02T09:00:00.000Z', '2026-11-02T09:30:00.000Z'],
  ended_at: ['2026-11-02T10:00:00.000Z', '2026-11-02T10:30:00.000Z'],
  shipping_tax_category: ['E', 'Z'],
  settle_tolerance: [0.05, 0.5],
  total_rounding: [0.05, 0.1],
  // The date of a payment must not be in the future.
  'payments.date': [today, addDays(today, -1)],
  number_formats: [{ invoice: { prefix: 'A-' } }, { invoice: { prefix: 'B-' } }],
};

function wayToPay(fields: object) {
  const none = { holder: null, iban: null, bic: null, text: null, qr_iban: null, address: null };
  return { ...none, vpa: null, name: null, label: null, url: null, ...fields };
}

function postalAddress(country: string, parts: object) {
  const none = { line1: null, line2: null, line3: null, postal_code: null, city: null, region: null };
  return { ...none, ...parts, country };
}

/** The makers of records that a field can name, where a plain one does not do. */
const SAMPLE_KINDS: Record<string, string> = { corrects: 'credited-invoices' };

/** Fields that control what a request does and are not stored. */
const ACTIONS = new Set(['timers.on_running', 'account.apply_to']);

const BY_TYPE: Record<string, [unknown, unknown]> = {
  day: ['2031-01-02', '2031-01-03'],
  currency: ['EUR', 'CHF'],
  number: [7.5, 8.5],
  hours: [7.5, 8.5],
  decimal: [7.5, 8.5],
  boolean: [false, true],
};

let gateway: TestGateway;
let check: AnswerCheck;
beforeAll(async () => {
  gateway = await startGateway();
  check = answerCheck((await gateway.get('/openapi.json', { key: undefined })).body);
});
afterAll(() => gateway.close());

const rowOf = (method: Route['method'], path: string) =>
  routeTable.find((row) => row.method === method && row.path === path);
const kindOf = (path: string) => path.split('/')[3] as string;

/** Resources that callers create, read and change. */
const creates = routeTable.filter(
  ({ method, path, body }) =>
    method === 'post' && body && rowOf('get', `${path}/{id}`) && rowOf('patch', `${path}/{id}`),
);
const created = creates
  .flatMap((row) => Object.entries(fieldsOf(row)).map(([name, field]) => ({ row, name, field })))
  .filter(({ row, name }) => !ACTIONS.has(`${kindOf(row.path)}.${name}`));
const profile = rowOf('patch', '/api/v1/account') as Route;

test('when the table of routes is read, then the tested fields include those of all main resources', () => {
  expect(creates.map(({ path }) => kindOf(path))).toEqual(
    expect.arrayContaining(['clients', 'projects', 'tasks', 'time-entries', 'quotes', 'invoices']),
  );
});

describe.each(sampled(created, 12).map((one) => [`${kindOf(one.row.path)}.${one.name}`, one] as const))(
  '%s',
  (_name, one) => {
    const { row, name, field } = one;
    const resource = kindOf(row.path);
    const item = `${row.path}/{id}`;
    const change = rowOf('patch', item);

    test('when it is sent on create or changed, then it is returned as it was sent', async () => {
      const [value] = await samplesOf(resource, name, field);
      const sent = {
        ...(await bodyFor(gateway, row.operation, gateway.account)),
        ...(await ownersOf(name, value, fieldsOf(row))),
        // Only lines have prices.
        ...(name === 'prices_include_tax' ? { line_items: [{ description: 'x', quantity: 1, rate: 1 }] } : {}),
        ...chargedWith(resource, name),
        ...timedWith(resource, name),
        ...(name === 'allocations' ? { client_id: await payerOf(value as Allocation[]) } : {}),
        // A timer must start after the running one of the same owner.
        ...(resource === 'timers' ? { owner: `owner with ${name}` } : {}),
        [name]: value,
      };
      const reply = await gateway.post(row.path, sent);
      if (reply.status !== 201) throw new Error(`POST ${row.path} rejects ${name}: ${JSON.stringify(reply.body)}`);
      check('POST', row.path, reply);
      const url = `${row.path}/${reply.body.data.id}`;
      await requireShown(
        url,
        name,
        value,
        `the handler of POST ${row.path} does not store it, or the view does not show it`,
      );

      const changed = change && fieldsOf(change)[name];
      // null-fields.test.ts covers fields that cannot be changed. References have rules of their own.
      if (!changed || name in REFERENCES) return;
      const [, sample] = await samplesOf(resource, name, changed);
      const other =
        name === 'include_time' ? { ...(sample as object), ...(await workOf(reply.body.data.client.id)) } : sample;
      const patched = await gateway.patch(url, { [name]: other });
      if (patched.status !== 200) throw new Error(`PATCH ${item} rejects ${name}: ${JSON.stringify(patched.body)}`);
      check('PATCH', url, patched);
      await requireShown(url, name, other, `the handler of PATCH ${item} does not store it`);
      if (resource === 'webhooks') await gateway.delete(url);
    });
  },
);

test.each(Object.entries(fieldsOf(profile)).filter(([name]) => !ACTIONS.has(`account.${name}`)))(
  'when %s of the account is changed, then it is returned',
  async (name, field) => {
    const [value] = await samplesOf('account', name, field);
    const { key } = await gateway.workspace.account();
    const reply = await gateway.patch(profile.path, { [name]: value }, { key });
    if (reply.status !== 200) throw new Error(`PATCH ${profile.path} rejects ${name}: ${JSON.stringify(reply.body)}`);
    await requireShown(
      profile.path,
      name,
      value,
      'the handler does not store it, or accountView does not show it',
      key,
    );
  },
);

/** Discount and shipping need lines, and the tax of shipping needs shipping. */
function chargedWith(resource: string, name: string): object {
  if (!/^(discount|shipping)_/.test(name)) return {};
  return {
    ...(resource === 'quotes' ? { amount: 1_000 } : {}),
    line_items: [{ description: 'x', quantity: 1, rate: 1_000 }],
    ...(name.startsWith('shipping_tax_') ? { shipping_amount: 5 } : {}),
  };
}

/** A time entry has both times, and hours and date follow from them. */
function timedWith(resource: string, name: string): object {
  if (resource !== 'time-entries' || !/^(started|ended)_at$/.test(name)) return {};
  const [[started_at], [ended_at]] = [SAMPLES['started_at'], SAMPLES['ended_at']] as [string[], string[]];
  return { started_at, ended_at, hours: undefined, date: undefined };
}

/** A project must belong to the client that the body names, and a task to the project. */
async function ownersOf(name: string, id: unknown, known: object): Promise<object> {
  const kind = REFERENCES[name];
  if (!kind) return {};
  const { data } = (await gateway.get(`/api/v1/${kind}/${id}`)).body;
  const owners = Object.keys(REFERENCES).map((owner) => [owner, data[owner.replace(/_id$/, '')]?.id] as const);
  return Object.fromEntries(owners.filter(([owner, of]) => of !== undefined && owner in known));
}

/** A project and a task of the client. */
async function workOf(client_id: string) {
  const project = await create(gateway, '/api/v1/projects', { name: 'Engine', client_id });
  const task = await create(gateway, '/api/v1/tasks', { name: 'Mill', project_id: project.id });
  return { project_ids: [project.id], task_ids: [task.id] };
}

interface Allocation {
  invoice_id: string;
  amount: number;
}

/** A payment pays invoices of its own client. */
async function payerOf([part]: Allocation[]): Promise<string> {
  return (await gateway.get(`/api/v1/invoices/${part?.invoice_id}`)).body.data.client.id;
}

async function requireShown(url: string, name: string, value: unknown, reason: string, key = gateway.account.key) {
  const reply = await gateway.get(url, { key });
  check('GET', url, reply);
  const { data } = reply.body;
  const shown = data[name] ?? data[name.replace(/_id$/, '')]?.id;
  try {
    expect(shown).toEqual(expectedOf(name, value));
  } catch {
    throw new Error(
      `GET ${url} shows ${JSON.stringify(shown)} as ${name} instead of ${JSON.stringify(value)}: ${reason}`,
    );
  }
}

/** The form of a value in a response, where it differs from the one that was sent. */
function expectedOf(name: string, value: unknown): unknown {
  if (name === 'number_formats')
    return expect.objectContaining({ invoice: expect.objectContaining((value as { invoice: object }).invoice) });
  if (name === 'allocations')
    return (value as Allocation[]).map(({ invoice_id, amount }) =>
      expect.objectContaining({ invoice: expect.objectContaining({ id: invoice_id }), amount }),
    );
  if (name !== 'line_items') return value;
  return (value as { description: string; quantity: number; rate: number }[]).map(
    ({ description, quantity, rate }) => ({
      description,
      qty: String(quantity),
      rate: String(rate),
      discount: '0',
    }),
  );
}

async function samplesOf(resource: string, name: string, field: Shape): Promise<readonly [unknown, unknown]> {
  const { type, allow = [], flags, rules = [] } = field;
  const kind = REFERENCES[name];
  if (kind) {
    const id = await make(gateway, SAMPLE_KINDS[name] ?? kind, gateway.account, 'sample-');
    return [id, id];
  }
  if (name === 'allocations') {
    const part = { invoice_id: await make(gateway, 'sent-invoices', gateway.account, 'sample-'), amount: 0.5 };
    return [[part], [part]];
  }
  const known = SAMPLES[`${resource}.${name}`] ?? SAMPLES[name] ?? BY_TYPE[type];
  if (known) return known;
  if (type === 'uuid') return [newId(), newId()];
  const words = allow.filter((value) => typeof value === 'string' && value !== '');
  if (flags?.only) return [words[1], words[2] ?? words[0]];
  if (rules.some((rule) => rule.name === 'email')) return ['one@example.com', 'other@example.com'];
  if (['name', 'line', 'text', 'paragraphs'].includes(type)) return [`One ${name}`, `Other ${name}`];
  throw new Error(
    `This test does not know a value of ${resource}.${name}, which is of type ${type}: add two to SAMPLES`,
  );
}
