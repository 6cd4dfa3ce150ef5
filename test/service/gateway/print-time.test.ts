// Time entries on the PDF of an invoice, and the limit of a selection of time: what is sent to the renderer.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { issueApiKey } from '#libs/models/accounts/api-key.ts';
import { driverOf } from '#libs/models/records.ts';
import { newRecord, storedId } from '#libs/models/tenant.ts';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import { type PrintingGateway, startPrintingGateway } from '../../support/gateway.ts';
import { create, createClient, createProject } from '../../support/records.ts';

let gateway: PrintingGateway;
beforeAll(async () => {
  gateway = await startPrintingGateway();
});
afterAll(() => gateway.close());

const rounding = { minutes: 15, mode: 'up', scope: 'entry' };

async function billed() {
  const client = await createClient(gateway, { hourly_rate: 90, currency: 'EUR', rounding });
  const project = await createProject(gateway, { client_id: client.id });
  const log = (hours: number, description: string | null) =>
    create(gateway, '/api/v1/time-entries', { project_id: project.id, date: '2026-11-02', hours, description });
  await log(2.1, 'Sketches');
  await log(0.5, null);
  return create(gateway, '/api/v1/invoices/from-time', { client_id: client.id, line_text: 'Work' });
}

test('when an invoice is printed with its time, then each line has its entries; without, it has none', async () => {
  const invoice = await billed();
  const path = `/api/v1/invoices/${invoice.id}`;
  expect((await gateway.get(`${path}/pdf`)).status).toBe(200);
  expect(gateway.printed()).not.toHaveProperty('time');
  const { status, headers } = await gateway.get(`${path}/pdf?time=true`);
  expect([status, gateway.printed()?.time]).toEqual([
    200,
    [
      {
        description: 'Work',
        place: 'Engine',
        hours: '2.6',
        billed: '2.75',
        rate: '90',
        amount: 247.5,
        entries: [
          { date: '2026-11-02', description: 'Sketches', hours: '2.1', billed: '2.25' },
          { date: '2026-11-02', hours: '0.5', billed: '0.5' },
        ],
      },
    ],
  ]);
  expect(headers.get('ETag')).not.toBe((await gateway.get(`${path}/pdf`)).headers.get('ETag'));
  await gateway.patch(path, { line_items: [{ description: 'Fixed', quantity: 1, rate: 200 }] });
  await gateway.get(`${path}/pdf?time=true`);
  // It shows the hours, and no other sum than the invoice.
  expect(gateway.printed()?.time?.[0]).toMatchObject({ description: 'Work', billed: '2.75' });
  expect(gateway.printed()?.time?.[0]).not.toHaveProperty('amount');
});

test('when a key lacks the scope to read time, then 403 for an invoice with time and for a batch with time', async () => {
  const invoice = await billed();
  const scopes = ['invoices:read', 'documents:write'];
  const { key } = await issueApiKey({ accountId: gateway.account.id, name: 'printer', scopes });
  const lacking = {
    status: 403,
    body: expect.objectContaining({ error: 'Forbidden: API key lacks the time-entries:read scope' }),
  };
  expect(await gateway.get(`/api/v1/invoices/${invoice.id}/pdf?time=true`, { key })).toMatchObject(lacking);
  const documents = [{ type: 'invoice', id: invoice.id }];
  expect(await gateway.post('/api/v1/documents', { documents, time: true }, { key })).toMatchObject(lacking);
  const batch = await gateway.post('/api/v1/documents', { documents }, { key });
  expect([batch.status, batch.body.data.looks.time]).toEqual([202, false]);
});

test('when a key may not read time, then it sees a batch that was printed with it, and gets none of its files', async () => {
  const documents = [{ type: 'invoice', id: (await billed()).id }];
  const { id } = (await gateway.post('/api/v1/documents', { documents, time: true })).body.data;
  const { key } = await issueApiKey({
    accountId: gateway.account.id,
    name: 'archivist',
    scopes: ['invoices:read', 'documents:read'],
  });
  const lacking = {
    status: 403,
    body: expect.objectContaining({ error: 'Forbidden: API key lacks the time-entries:read scope' }),
  };
  const path = `/api/v1/documents/${id}`;

  expect((await gateway.get(path, { key })).status).toBe(200);
  expect(await gateway.get(`${path}/files/1`, { key })).toMatchObject(lacking);
  expect(await gateway.get(`${path}/archive`, { key })).toMatchObject(lacking);
  // Not printed yet: with the scope that is what it learns.
  expect((await gateway.get(`${path}/files/1`)).status).toBe(409);
});

test('when a filter matches far more time than an invoice can hold, then 409, and little more than the limit is read', async () => {
  const client = await createClient(gateway, { hourly_rate: 90 });
  const project = await createProject(gateway, { client_id: client.id });
  const entries = Array.from({ length: 20_000 }, () => ({
    ...newRecord(gateway.account.id),
    project_id: storedId(project.id),
    task_id: null,
    hours: 1,
    seconds: 3600,
    hourly_rate: null,
    date: '2026-01-02',
    description: null,
  }));
  await driverOf(TimeEntry).insertMany(entries as never);
  const { db } = mongoose.connection;
  await db?.command({ profile: 2 });
  const reply = await gateway.post('/api/v1/invoices/from-time', { client_id: client.id });
  await db?.command({ profile: 0 });
  expect([reply.status, reply.body]).toEqual([
    409,
    expect.objectContaining({ error: 'Too many time entries for one invoice (at most 1000)' }),
  ]);
  const reads =
    (await db
      ?.collection('system.profile')
      .find({ ns: /time_entries$/ })
      .toArray()) ?? [];
  expect(reads.length).toBeGreaterThan(0);
  for (const { docsExamined, keysExamined } of reads)
    expect([docsExamined <= 1_001, keysExamined <= 1_010]).toEqual([true, true]);
});
