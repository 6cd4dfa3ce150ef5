// The catalogue's examples look like what is really sent.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Event, type EventRecord } from '#libs/models/event.ts';
import { catalogue } from '../../services/gateway/events/catalogue.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { create, createClient } from '../support/records.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('when records are created, then each event has the fields of its example, and no others', async () => {
  const client = await createClient(gateway, { company_name: 'Analytical Engines' });
  const project = await create(gateway, '/api/v1/projects', { name: 'Engine', client_id: client.id });
  const task = await create(gateway, '/api/v1/tasks', { name: 'Draw', project_id: project.id });
  const entry = { project_id: project.id, task_id: task.id, date: '2026-11-02', hours: 1.5, description: 'Sketch' };
  await create(gateway, '/api/v1/time-entries', entry);
  const line_items = [{ description: 'Design', quantity: 1, rate: 100 }];
  const document = { client_id: client.id, project_id: project.id, amount: 100, line_items };
  await create(gateway, '/api/v1/quotes', document);
  await create(gateway, '/api/v1/invoices', { ...document, due_date: '2099-12-31' });

  const events = await Event.find({ account_id: gateway.account.id }).sort({ sequence: 1 }).lean<EventRecord[]>();
  const fields = (data: object) => Object.keys(data).toSorted((a, b) => a.localeCompare(b));
  const sent = events.map(({ type, body }) => [type, fields(JSON.parse(body).data)]);
  const shown = events.map(({ type }) => {
    const entry = catalogue.find((one) => one.type === type);
    return [type, fields(entry?.example.data ?? {})];
  });
  expect(sent).toHaveLength(6);
  expect(shown).toEqual(sent);
});
