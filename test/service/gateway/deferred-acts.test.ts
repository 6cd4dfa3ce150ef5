// Deferred acts never have more rights than the request that caused them. Every background loop, queue and hook is in one of the two tables here.
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { catalog } from '#libs/jobs/catalog.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { setUpMail } from '../../support/messages.ts';
import { make } from '../../support/operations.ts';
import { create, createClient } from '../../support/records.ts';
import { routeTable } from '../../support/route-table.ts';

let gateway: TestGateway;
let client: string;

beforeAll(async () => {
  gateway = await startGateway();
  client = (await createClient(gateway)).id;
});
afterAll(() => gateway.close());

interface Cause {
  /** The loop, the queue or the hook that does it later. */
  by: string;
  operation: string;
  /** Without one of these the request is rejected: the scope of the operation, and those of what happens later. */
  scopes: readonly string[];
  request: () => Promise<{ method: 'POST' | 'PATCH' | 'PUT'; path: string; body: object }>;
}

const RECURRING = '/api/v1/recurring-invoices';
const fee = [{ description: 'Support', quantity: 1, rate: 450 }];
const schedule = { unit: 'month', start_on: '2031-01-31' };
const WORK = { group_by: 'task', include_expenses: true };
const [RUN, OF_TIME] = [
  ['recurring-invoices:write', 'invoices:write'],
  ['time-entries:write', 'expenses:write'],
];

const recurring = async (fields: object = {}) =>
  `${RECURRING}/${(await create(gateway, RECURRING, { client_id: client, line_items: fee, schedule, ...fields })).id}`;
const STRIPE = { secret_key: `rk_test_${'x'.repeat(24)}`, signing_secret: `whsec_${'x'.repeat(32)}` };
const paused = async (fields: object = {}) => {
  const path = await recurring(fields);
  await gateway.post(`${path}/pause`, {});
  return path;
};
const by = 'the poller of recurring invoices';

const CAUSES: readonly Cause[] = [
  {
    by,
    operation: 'createRecurringInvoice',
    scopes: RUN,
    request: async () => ({ method: 'POST', path: RECURRING, body: { client_id: client, line_items: fee, schedule } }),
  },
  {
    by,
    operation: 'createRecurringInvoice with time and expenses',
    scopes: [...RUN, ...OF_TIME],
    request: async () => ({
      method: 'POST',
      path: RECURRING,
      body: { client_id: client, schedule, include_time: WORK },
    }),
  },
  {
    by,
    operation: 'updateRecurringInvoice',
    scopes: RUN,
    request: async () => ({ method: 'PATCH', path: await recurring(), body: { create_as: 'Sent' } }),
  },
  {
    by,
    operation: 'updateRecurringInvoice, which adds time and expenses',
    scopes: [...RUN, ...OF_TIME],
    request: async () => ({ method: 'PATCH', path: await recurring(), body: { include_time: WORK } }),
  },
  {
    by,
    operation: 'updateRecurringInvoice of one with time and expenses',
    scopes: [...RUN, ...OF_TIME],
    request: async () => ({
      method: 'PATCH',
      path: await recurring({ include_time: WORK }),
      body: { create_as: 'Sent' },
    }),
  },
  {
    by,
    operation: 'resumeRecurringInvoice',
    scopes: RUN,
    request: async () => ({ method: 'POST', path: `${await paused()}/resume`, body: {} }),
  },
  {
    by,
    operation: 'resumeRecurringInvoice of one with time and expenses',
    scopes: [...RUN, ...OF_TIME],
    request: async () => ({ method: 'POST', path: `${await paused({ include_time: WORK })}/resume`, body: {} }),
  },
  {
    by,
    operation: 'runRecurringInvoice of one with time and expenses',
    scopes: [...RUN, ...OF_TIME],
    request: async () => ({
      method: 'POST',
      path: `${await recurring({ include_time: WORK })}/run?dry_run=true`,
      body: {},
    }),
  },
  ...[{ reminders: [{ days: 3 }] }, { receipts: true }].map((body) => ({
    by: 'the poller of reminders',
    operation: 'updateAccount',
    scopes: ['account:write', 'messages:write'],
    request: async () => ({ method: 'PATCH' as const, path: '/api/v1/account', body }),
  })),
  {
    by: '/hooks/stripe/:id',
    operation: 'setStripe',
    scopes: ['account:write', 'payments:write'],
    request: async () => ({ method: 'PUT', path: '/api/v1/account/stripe', body: STRIPE }),
  },
  {
    by: 'the mail poller',
    operation: 'sendStatement',
    scopes: ['messages:write', 'clients:read', 'invoices:read', 'quotes:read', 'payments:read', 'credit-notes:read'],
    request: async () => {
      await setUpMail();
      const { id } = await createClient(gateway);
      const body = { period: { from: '2026-01-01', to: '2026-01-31' }, include_link: true };
      return { method: 'POST', path: `/api/v1/clients/${id}/statements/send`, body };
    },
  },
  {
    by: 'the mail poller',
    operation: 'setMailTemplate, whose words all later mails have',
    scopes: ['messages:write'],
    request: async () => ({
      method: 'PUT',
      path: '/api/v1/mail-templates/receipt',
      body: { texts: [{ language: 'en', subject: 'Thanks', body: 'Thank you' }] },
    }),
  },
  {
    by: 'render-document',
    operation: 'createDocuments',
    scopes: ['documents:write', 'invoices:read', 'time-entries:read'],
    request: async () => {
      const id = await make(gateway, 'sent-invoices', gateway.account, 'own-');
      return { method: 'POST', path: '/api/v1/documents', body: { documents: [{ type: 'invoice', id }], time: true } };
    },
  },
];

/** Why nothing more than what the request could do itself comes of it. */
const NO_MORE_RIGHTS: Readonly<Record<string, string>> = {
  'the expiry poller': 'tells that the day of a document has passed, in an event; changes no other record',
  'the poller of follow-ups': 'tells in numbers what waits, in an event; changes no other record',
  'the relay': 'hands over events that are stored; who may subscribe to them is a question of webhooks:write',
  'the delivery poller': 'sends what a subscription is owed',
  'the reconciler of endpoints': 'suspends or resumes deliveries of the endpoint that was changed',
  'the count of webhook processes': 'counts processes',
  'the sampler of queues': 'counts jobs',
  'the figures of requests': 'counts requests, for the operator alone',
  'load-logo': 'fetches the logo that account:write set, for a page that a link shows',
  'fan-out-event':
    'makes a delivery for each subscribed endpoint; webhooks:write sees all events, as docs/secure.md says',
  'deliver-webhook': 'sends one event to one subscribed endpoint',
  'retry-webhook': 'sends it again',
  'the remover of old mails': 'removes what is kept for 90 days',
  'the mail poller': 'sends the message that messages:write planned',
  'send-mail': 'sends it',
  'send-own-mail': 'sends it by the mail server that account:write set',
  'the tester of mail servers': 'logs in to the mail server that account:write set',
};

describe('the tables', () => {
  const sources = globSync('{services,libs}/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const found = (pattern: RegExp) =>
    sources.flatMap((source) => [...source.matchAll(pattern)].map(([, name]) => String(name)));
  const loops = found(/startPollingLoop\(.*?name: '([^']+)'/gs);
  const hooks = found(/'(\/hooks\/[^']+)'/g);

  test('when a loop, a queue or a hook exists, then one of them names it, and none that does not exist', () => {
    const queues = catalog.map(({ name }) => name);
    expect([loops.length > 5, hooks.length]).toEqual([true, 1]);
    const named = new Set([...CAUSES.map((one) => one.by), ...Object.keys(NO_MORE_RIGHTS)]);
    expect([...named].toSorted()).toEqual([...new Set([...loops, ...queues, ...hooks])].toSorted());
  });
});

describe('the key', () => {
  const rowOf = (method: string, path: string) =>
    routeTable.find((row) => {
      const pattern = new RegExp(`^${row.path.replace('{id}', '[0-9a-f-]{36}').replace('{kind}', '[a-z_]+')}$`);
      return row.method === method.toLowerCase() && pattern.test(path.replace(/\?.*$/, ''));
    });

  test.each(CAUSES.map((cause) => [cause.operation, cause] as const))(
    'when it is revoked while %s comes in, then the operation sees it as it stores what acts later',
    async (operation, { request }) => {
      const { method, path } = await request();
      expect([operation, rowOf(method, path)?.rechecksKey]).toEqual([operation, true]);
    },
  );
});

test('when a key is revoked while the body of a recurring invoice comes in, then it is 401, and nothing is stored', async () => {
  const { id, key } = await create(gateway, '/api/v1/keys', { name: 'x', scopes: RUN });
  const lists = async () => (await gateway.get(RECURRING)).body.pagination.total;
  const before = await lists();
  const body = JSON.stringify({ client_id: client, line_items: fee, schedule });
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Content-Length': body.length };
  const sent = request(gateway.url + RECURRING, { method: 'POST', headers });
  const response = once(sent, 'response');
  sent.write(body.slice(0, 10));
  // The usage of a key is noted after it was admitted.
  await eventually(async () => (await gateway.get(`/api/v1/keys/${id}`)).body.data.last_used_at !== null);
  expect((await gateway.delete(`/api/v1/keys/${id}`)).status).toBe(200);
  sent.end(body.slice(10));
  const [{ statusCode }] = (await response) as [{ statusCode: number }];

  expect([statusCode, await lists()]).toEqual([401, before]);
});

describe.each(CAUSES.map((cause) => [cause.operation, cause] as const))('%s', (_operation, { scopes, request }) => {
  test.each(scopes)(
    'when the key has every scope but %s, then 403 names it, and with all of them it succeeds',
    async (missing) => {
      // A key has one scope at least.
      const key = (given: readonly string[]) =>
        create(gateway, '/api/v1/keys', { name: 'x', scopes: ['reports:read', ...given] });
      const { method, path, body } = await request();
      const without = await key(scopes.filter((scope) => scope !== missing));
      const rejected = await gateway.call(method, path, { body, key: without.key });
      expect([rejected.status, rejected.body]).toEqual([
        403,
        expect.objectContaining({ error: `Forbidden: API key lacks the ${missing} scope` }),
      ]);
      const accepted = await gateway.call(method, path, { body, key: (await key(scopes)).key });
      // A dry run of an invoice of time has nothing to bill.
      expect([200, 201, 202, 409]).toContain(accepted.status);
    },
  );
});
