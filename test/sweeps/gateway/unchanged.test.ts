// On every route, a PATCH that changes nothing stores nothing and announces nothing.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, filledPath, kindOf, make } from '../../support/operations.ts';
import { create, createClient, createProject } from '../../support/records.ts';
import { fieldsOf, routeTable } from '../../support/route-table.ts';
import { storedRecords } from '../../support/stored.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const patches = routeTable.filter(({ method }) => method === 'patch');
/** These change without a change of what is stored. */
const VOLATILE = ['last_used_at', 'lock_version'];
const namesOf = (row: (typeof patches)[number]) => Object.keys(fieldsOf(row));

/** The fields of a returned record in the form of a PATCH body. */
function asBody(data: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  const references = Object.fromEntries(
    ['client', 'project', 'task'].flatMap((name) => {
      const named = data[name] as { id: string } | null | undefined;
      return named ? [[`${name}_id`, named.id]] : [];
    }),
  );
  const all: Record<string, unknown> = { ...data, ...references };
  return Object.fromEntries(names.filter((name) => name in all).map((name) => [name, all[name]]));
}

async function expectNothing(path: string, body: object, what: string) {
  const before = await gateway.get(path);
  const stored = await storedRecords(VOLATILE);
  const reply = await gateway.patch(path, body);
  const after = await gateway.get(path);

  expect([what, reply.status, reply.body.details]).toEqual([what, 200, undefined]);
  expect(after.body).toEqual(before.body);
  expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
  expect([what, await storedRecords(VOLATILE)]).toEqual([what, stored]);
  expect((await gateway.patch(path, body, { headers: { 'If-Match': '"other"' } })).status).toBe(412);
}

test('when the table of routes is read, then it covers everything that can be changed', () => {
  expect(patches.length).toBeGreaterThan(7);
});

test.each(sampled(patches, 12).map((row) => [row.operation, row] as const))(
  'when %s sends the current values, then nothing is stored and nothing announced',
  async (operation, row) => {
    const id = row.path.includes('{id}') ? await make(gateway, kindOf(row.path), gateway.account, 'own-') : '';
    const path = filledPath(row.path, id);
    const changes = (await bodyFor(gateway, operation, gateway.account)) ?? {};
    expect((await gateway.patch(path, changes)).status).toBe(200);
    const whole = asBody((await gateway.get(path)).body.data, namesOf(row));

    await expectNothing(path, changes, 'the same change again');
    for (const [name, value] of Object.entries(whole)) await expectNothing(path, { [name]: value }, name);
    await expectNothing(path, whole, 'the whole record');
  },
);

test('when all optional fields are set, then sending the current values changes nothing either', async () => {
  const client = await createClient(gateway, { company_name: 'C', phone: '1', address: 'A\nB', tax_id: 'T' });
  const project = await createProject(gateway, {
    client_id: client.id,
    status: 'Complete',
    budget_hours: 9,
    budget_amount: 0.5,
  });
  const task = await create(gateway, '/api/v1/tasks', {
    project_id: project.id,
    name: 'T',
    description: 'D',
    rate: 80.5,
    estimated_hours: 2.5,
    budget_hours: 1,
    phase_id: client.id,
  });
  const entry = await create(gateway, '/api/v1/time-entries', {
    project_id: project.id,
    task_id: task.id,
    hours: 1.1,
    date: '2026-01-02',
    description: 'E',
  });
  const money = { client_id: client.id, project_id: project.id, currency: 'KWD', tax_rate: 19.5, description: 'M' };
  const line_items = [{ description: 'L', quantity: 2.5, rate: '99.990', discount: 10 }];
  const quote = await create(gateway, '/api/v1/quotes', {
    ...money,
    amount: 224.978,
    line_items,
    status: 'Sent',
    expires_at: '2000-01-01',
  });
  const invoice = await create(gateway, '/api/v1/invoices', { ...money, line_items, due_date: '2040-01-01' });
  const sent = await create(gateway, '/api/v1/invoices', {
    ...money,
    amount: 1,
    due_date: '2000-01-01',
    status: 'Sent',
  });

  for (const [kind, record] of Object.entries({
    clients: client,
    projects: project,
    tasks: task,
    'time-entries': entry,
  })) {
    await filled(kind, record.id);
  }
  await filled('quotes', quote.id, { without: ['status'] });
  await filled('invoices', invoice.id);
  // Sent and overdue by its date: here a status may be a change, see the tests of the scheduler.
  await filled('invoices', sent.id, { without: ['status'] });
});

test('when one of several values differs, then the record changes', async () => {
  const client = await createClient(gateway, { name: 'Same' });
  const reply = await gateway.patch(`/api/v1/clients/${client.id}`, { name: 'Same', phone: '2' });

  expect(reply.body.data.updated_at > client.updated_at).toBe(true);
});

async function filled(kind: string, id: string, { without = [] as string[] } = {}) {
  const path = `/api/v1/${kind}/${id}`;
  const row = patches.find((one) => one.path === `/api/v1/${kind}/{id}`);
  const names = namesOf(row as (typeof patches)[number]).filter((name) => !without.includes(name));
  await expectNothing(path, asBody((await gateway.get(path)).body.data, names), kind);
}
