// Work on an invoice after it is issued: records and events follow, and its hours stay with the invoice for ever.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type PrintingGateway, startPrintingGateway } from '../../support/gateway.ts';
import { type AnyRecord, create, createClient, createProject } from '../../support/records.ts';

let gateway: PrintingGateway;
beforeAll(async () => {
  gateway = await startPrintingGateway();
});
afterAll(() => gateway.close());

async function work() {
  const client = await createClient(gateway, { hourly_rate: 100, currency: 'EUR' });
  const project = await createProject(gateway, { client_id: client.id });
  const of = { project_id: project.id, date: '2026-11-02' };
  const entry = await create(gateway, '/api/v1/time-entries', { ...of, hours: 2, description: 'Sketches' });
  const expense = await create(gateway, '/api/v1/expenses', { ...of, amount: 30, description: 'Train' });
  await create(gateway, '/api/v1/hour-packages', { client_id: client.id, hours: 0.5 });
  const bill = (status: string) =>
    create(gateway, '/api/v1/invoices/from-time', { client_id: client.id, include_expenses: true, status });
  return { client, project, entry, expense, bill };
}

const read = async (path: string) => (await gateway.get(`/api/v1/${path}`)).body.data as AnyRecord;
const eventsAbout = async (id: string) =>
  (await gateway.get('/api/v1/events?limit=100')).body.data.filter(
    ({ data }: AnyRecord) => data.id === id,
  ) as AnyRecord[];

test('when a draft is issued, then its time and expenses are billed, changed now, and the last event is the record', async () => {
  const { entry, expense, bill } = await work();
  const draft = await bill('Draft');
  const paths = [`time-entries/${entry.id}`, `expenses/${expense.id}`];
  const before = [];
  for (const path of paths) before.push(await read(path));
  expect(before.map(({ billing }) => billing)).toEqual(['on_draft', 'on_draft']);
  await gateway.patch(`/api/v1/invoices/${draft.id}`, { status: 'Sent' });
  for (const [index, path] of paths.entries()) {
    const record = await read(path);
    expect(record.billing).toBe('billed');
    expect(record.updated_at > before[index]?.['updated_at']).toBe(true);
    expect((await eventsAbout(record.id)).at(-1)?.['data']).toEqual(record);
  }
});

test('when an issued invoice is corrected or cancelled, then its time sheet stays, under the names of its day, while the time is free', async () => {
  for (const status of ['Draft', 'Sent']) {
    for (const undo of ['correction', 'cancel']) {
      const { project, entry, bill } = await work();
      const { id } = await bill(status);
      const path = `/api/v1/invoices/${id}`;
      if (status === 'Draft') await gateway.patch(path, { status: 'Sent' });
      const issued = await read(`invoices/${id}/time`);
      expect(issued.lines).toMatchObject([
        {
          hours: 2,
          prepaid_hours: 0.5,
          rate: 100,
          entries: [{ id: entry.id, description: 'Sketches', rate_from: 'client' }],
        },
      ]);
      await gateway.get(`${path}/pdf?time=true`);
      const sheet = gateway.printed()?.time;
      await gateway.patch(`/api/v1/projects/${project.id}`, { name: 'Renamed' });
      if (undo === 'cancel') await gateway.patch(path, { status: 'Cancelled' });
      else {
        await gateway.post(`${path}/payments`, { method: 'cash' });
        const credit = await gateway.post(`${path}/credit-notes`, { reason: 'correction' });
        expect(credit.status).toBe(201);
      }
      expect(await read(`time-entries/${entry.id}`)).toMatchObject({ billing: 'unbilled', invoice: null });
      const { status: changed } = await gateway.patch(`/api/v1/time-entries/${entry.id}`, {
        hours: 9,
        description: 'Other',
      });
      expect([changed, await read(`invoices/${id}/time`)]).toEqual([200, issued]);
      await gateway.get(`${path}/pdf?time=true`);
      expect(gateway.printed()?.time).toEqual(sheet);
      expect((await bill('Draft')).amount).toBeGreaterThan(0);
    }
  }
});
