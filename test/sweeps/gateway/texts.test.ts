// Texts of all resources: one-line fields are trimmed and have one line, names are visible, and blank texts are absent.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, filledPath, kindOf, make } from '../../support/operations.ts';
import { type AnyRecord, createClient } from '../../support/records.ts';
import { fieldsOf, routeTable } from '../../support/route-table.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

type Row = (typeof routeTable)[number];

const fieldsOfKinds = (row: Row, kinds: readonly string[]) =>
  Object.entries(fieldsOf(row)).filter(([, { type }]) => kinds.includes(type));
const withLines = routeTable.filter((row) => fieldsOfKinds(row, ['name', 'line']).length > 0);
const withTexts = routeTable.filter((row) =>
  fieldsOfKinds(row, ['line', 'text']).some(([, { allow }]) => allow?.includes(null)),
);

async function callerOf(row: Row) {
  const id = row.path.includes('{id}') ? await make(gateway, kindOf(row.path), gateway.account, 'own-') : '';
  const body = (await bodyFor(gateway, row.operation, gateway.account)) ?? {};
  return (fields: object) =>
    gateway.call(row.method.toUpperCase(), filledPath(row.path, id), {
      body: { ...body, ...fields },
    });
}

/** The stored text of a field in a response; some operations return it in another field. */
async function shownOf({ operation }: Row, field: string, data: AnyRecord): Promise<unknown> {
  if (operation === 'voidPayment') return data.void_reason;
  if (operation === 'reportBounce') return data.recipients[0][field];
  // The subject of the template takes the place of one that is not given.
  if (/^(?:send|previewMail|remind)/.test(operation) && / from New(?:$|: )|^Thank you|^Reminder: /.test(data[field]))
    return undefined;
  if (operation === 'refundPayment' || operation === 'refundCreditNote') return data.refunds.at(-1)[field];
  if (field === 'member' && operation.endsWith('TimeEntry'))
    return (await gateway.get(`/api/v1/time-entries/${data.id}`)).body.data.member;
  if (operation !== 'writeOffInvoice') return data[field];
  const ledger = await gateway.get(`/api/v1/invoices/${data.id}/payments`);
  return ledger.body.data.movements.at(-1).reason;
}

test('when the table of routes is read, then it covers every resource with names', () => {
  const operations = withLines.map(({ operation }) => operation);
  const named = [
    'updateAccount',
    'createApiKey',
    'addClient',
    'updateClient',
    'createProject',
    'updateProject',
    'createTask',
  ];
  expect(operations).toEqual(expect.arrayContaining([...named, 'updateTask', 'createWebhook', 'updateWebhook']));
});

test.each(sampled(withLines, 12).map((row) => [row.operation, row] as const))(
  'when a one-line field of %s holds a line break, then 400 names it',
  async (_operation, row) => {
    const call = await callerOf(row);
    for (const [field] of fieldsOfKinds(row, ['name', 'line'])) {
      for (const value of ['a\nb', 'a\r\nb', 'a\u2028b']) {
        const reply = await call({ [field]: value });
        const { details } = reply.body;
        // Those of quotes are a list.
        const said = Array.isArray(details) ? details[0] : details?.[field]?.[0];
        expect([field, reply.status, said]).toEqual([field, 400, `${field} must be one line`]);
      }
    }
  },
);

test.each(sampled(withLines, 12).map((row) => [row.operation, row] as const))(
  'when a one-line field of %s has whitespace around it, then it is trimmed',
  async (_operation, row) => {
    // Statuses, time zones and locales are values of a list, VAT ids and names of hosts have their own format, a login has both parts, and two fields name a message.
    const formed = ['status', 'time_zone', 'locale', 'vat_id', 'message_id', 'recipient', 'host', 'user', 'password'];
    const free = fieldsOfKinds(row, ['name', 'line']).filter(([name]) => !formed.includes(name));
    for (const [field, { rules = [] }] of free) {
      const plain = rules.some(({ name }) => name === 'email') ? 'zed@example.com' : `Zed ${row.operation}`;
      // Some operations work once: a bounce is booked.
      const call = await callerOf(row);
      const reply = await call({ [field]: ` \n ${plain}\u00a0\t` });
      const shown = await shownOf(row, field, reply.body.data);
      expect([field, reply.status < 300, shown]).toEqual([field, true, plain]);
      if (['createWebhook', 'createApiKey'].includes(row.operation))
        await gateway.delete(`${row.path}/${reply.body.data.id}`);
    }
  },
);

test.each(sampled(withTexts, 12).map((row) => [row.operation, row] as const))(
  'when an optional text of %s has only whitespace, then it is treated as absent',
  async (_operation, row) => {
    for (const [field, { allow, rules = [] }] of fieldsOfKinds(row, ['line', 'text'])) {
      if (!allow?.includes('') || rules.some(({ name }) => name === 'email')) continue;
      // Some operations work once: a quote is converted, and time is billed.
      const call = await callerOf(row);
      const reply = await call({ [field]: ' \u00a0\n\t ' });
      const shown = await shownOf(row, field, reply.body.data);
      expect([field, reply.status < 300, shown ?? null]).toEqual([field, true, null]);
      if (row.operation === 'createWebhook') await gateway.delete(`${row.path}/${reply.body.data.id}`);
    }
  },
);

describe('names', () => {
  test('when a client is called " Zed ", then it is found as Zed', async () => {
    const { id } = await createClient(gateway, {
      name: ' Zed ',
      company_name: '   ',
      address: ' 1 High Street\nLondon ',
    });
    const { data } = (await gateway.get(`/api/v1/clients/${id}`)).body;

    // In a text of several lines, whitespace may be intended.
    expect([data.name, data.company_name, data.address]).toEqual(['Zed', undefined, ' 1 High Street\nLondon ']);
  });

  test('when statuses of an account differ only in case or whitespace, then 400', async () => {
    for (const twin of ['done', ' Done', 'DONE ']) {
      const reply = await gateway.patch('/api/v1/account', { project_statuses: ['Done', twin] });
      expect([twin, reply.status]).toEqual([twin, 400]);
    }
  });

  test('when a description has several lines, then they are stored; when it is blank, then 400', async () => {
    const { id: client_id } = await createClient(gateway);
    const invoiceOf = (description: string) =>
      gateway.post('/api/v1/invoices', {
        client_id,
        due_date: '2031-01-01',
        line_items: [{ description, quantity: 1, rate: 1 }],
      });

    expect((await invoiceOf('Design\n- page 1')).body.data.line_items[0].description).toBe('Design\n- page 1');
    expect((await invoiceOf(' \n ')).body.details).toEqual({
      'line_items.0.description': ['line_items[0].description must not be blank'],
    });
  });
});

describe('URLs', () => {
  const WRONG = [
    'https://x.example/\ud800\u0000',
    'https://x.example/\u0000',
    ' https://x.example',
    'https://x.example\n',
    'https:x',
    'https://x.example/a b',
  ];

  test.each([
    ['the logo of an account', 'PATCH', '/api/v1/account', 'logo_url'],
    ['a webhook', 'POST', '/api/v1/webhooks', 'url'],
    ['the logo of a printed document', 'POST', '/api/tools/generate-pdf', 'logoUrl'],
    ['the banner of a printed document', 'POST', '/api/tools/generate-pdf', 'bannerUrl'],
  ])('when the URL of %s is not written as one, then 400 names it', async (_what, method, path, field) => {
    for (const url of WRONG) {
      const { status, body } = await gateway.call(method, path, { body: { [field]: url } });
      expect([url, status, Object.keys(body.details)]).toEqual([url, 400, expect.arrayContaining([field])]);
    }
  });
});
