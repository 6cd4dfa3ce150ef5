// Records under the very ids that the reference's examples use, so that every example can be run as it stands.
import mongoose from 'mongoose';
import { exampleId } from '#libs/responses/example-ids.ts';
import { ask } from './answers.ts';
import type { TestGateway } from './gateway.ts';
import { sendWithoutRelay, setUpMail } from './messages.ts';
import { create } from './records.ts';

const UUID = mongoose.Types.UUID;

/** Makes one record of each resource, as far as callers can make them, and moves it to its example id. */
export async function makeExampleRecords(gateway: TestGateway): Promise<void> {
  const client_id = exampleId.clients;
  const project_id = exampleId.projects;
  await make('clients', 'clients', { name: 'Ada Lovelace', email: 'ada@example.com' });
  await make('projects', 'projects', { name: 'Difference engine', client_id });
  await make('tasks', 'tasks', { name: 'Drawings', project_id });
  await make('time-entries', 'time_entries', { project_id, hours: 1, date: '2026-11-02' });
  await make('timers', 'timers', { project_id });
  // On the example client it would keep the deletion of that client from being an example.
  const other = await create(gateway, '/api/v1/clients', { name: 'Grace Hopper', email: 'grace@example.com' });
  await make('quotes', 'quotes', { client_id: other.id, amount: 100 });
  const line_items = [{ description: 'Drawings', quantity: 1, rate: 100 }];
  const schedule = { unit: 'month', start_on: '2031-01-31' };
  await make('recurring-invoices', 'recurring_invoices', { client_id: other.id, line_items, schedule });
  await mongoose.connection.collection('recurring_runs').deleteMany({});
  // Drawdowns of an invoice that had the same id before.
  await mongoose.connection.collection('hour_drawdowns').deleteMany({});
  await make('items', 'items', { name: 'Workshop', rate: 850 });
  await make('expenses', 'expenses', { project_id, date: '2026-11-03', description: 'Train', amount: 120 });
  await make('hour-packages', 'hour_packages', { client_id: other.id, hours: 40 });
  await make('invoices', 'invoices', { client_id, line_items, due_date: '2099-12-31' });
  const issued = { due_date: '2099-12-31', status: 'Sent' };
  await make('payments', 'payments', { client_id, amount: 100 });
  // A credited invoice stays issued, so it is another one than that of the examples.
  const paid = await create(gateway, '/api/v1/invoices', { client_id: other.id, ...issued, line_items });
  await create(gateway, `/api/v1/invoices/${paid.id}/payments`, {});
  const note = await create(gateway, `/api/v1/invoices/${paid.id}/credit-notes`, { reason: 'return' });
  await move('credit-notes', 'credit_notes', note.id, { client_id: new UUID(client_id) });
  const documents = [{ type: 'invoice', id: exampleId.invoices }];
  await make('documents', 'document_batches', { documents });
  await setUpMail();
  const { data: message } = (await gateway.post(`/api/v1/invoices/${paid.id}/send`, { to: ['ada@example.com'] })).body;
  await sendWithoutRelay(gateway.account.id, message.id);
  await move('messages', 'messages', message.id, { message_id: `<${exampleId.messages}@mail.example.com>` });
  await ask(gateway.account.id, { type: 'invoice', id: paid.id, text: 'Is the delivery part of the price?' });
  const { data: questions } = (await gateway.get(`/api/v1/questions?document_id=${paid.id}`)).body;
  await move('questions', 'questions', questions[0].id);
  await make('keys', 'api_keys', { name: 'Website', scopes: ['clients:read'] });
  const server = { host: 'smtp.example.com', port: 587, from: 'billing@example.com' };
  await gateway.call('PUT', '/api/v1/account/mail-server', { body: server });
  const stripe = { secret_key: `rk_test_${'x'.repeat(24)}`, signing_secret: `whsec_${'x'.repeat(32)}` };
  await gateway.call('PUT', '/api/v1/account/stripe', { body: stripe });
  await make('webhooks', 'webhook_endpoints', { url: 'https://example.com/hooks', events: ['client.created'] });

  async function make(resource: keyof typeof exampleId, collection: string, body: object) {
    const { id } = await create(gateway, `/api/v1/${resource}`, body);
    await move(resource, collection, id);
  }

  async function move(resource: keyof typeof exampleId, collection: string, id: string, fields: object = {}) {
    const records = mongoose.connection.collection(collection);
    const record = await records.findOne({ _id: new UUID(id) as never });
    if (!record) throw new Error(`${collection} does not hold what was made of ${resource}`);
    const _id = new UUID(exampleId[resource]) as never;
    await records.deleteMany({ _id: { $in: [_id, record._id] } });
    await records.insertOne({ ...record, ...fields, _id });
  }
}
