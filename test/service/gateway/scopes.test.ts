// Scopes that an operation needs besides its own: no key does along with something what it may not do by itself.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SCOPES } from '#libs/models/accounts/api-key.ts';
import { DocumentBatch } from '#libs/models/documents/document-batch.ts';
import { Message } from '#libs/models/messages/message.ts';
import { newId } from '#libs/models/tenant.ts';
import { ALWAYS } from '../../../services/gateway/http/route.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { sendWithoutRelay, setUpMail } from '../../support/messages.ts';
import { bodyFor, kindOf, make } from '../../support/operations.ts';
import { create } from '../../support/records.ts';
import { fieldsOf, routeTable } from '../../support/route-table.ts';

const needs = routeTable.flatMap((row) =>
  Object.entries(row.alsoNeeds ?? {}).map(([scope, when]) => [row.operation, scope, when, row] as const),
);

interface Case {
  /** The record of the path, when it has to be a special one. */
  id?: string;
  body?: object;
  query?: string;
}

/** Requests that make an operation need a scope which it does not always need. */
const CASES: Record<string, () => Promise<Case> | Case> = {
  'deleteProject tasks:write': async () => {
    const id = await own('projects');
    await create(gateway, '/api/v1/tasks', { project_id: id, name: 'x' });
    return { id };
  },
  'updateAccount time-entries:write': () => ({ body: { hourly_rate: 90, apply_to: 'unbilled' } }),
  'updateAccount messages:write': () => ({ body: { receipts: true } }),
  'updateClient time-entries:write': () => ({ body: { hourly_rate: 90, apply_to: 'unbilled' } }),
  'updateProject time-entries:write': () => ({ body: { hourly_rate: 90, apply_to: 'unbilled' } }),
  'updateTask time-entries:write': () => ({ body: { rate: 90, apply_to: 'unbilled' } }),
  'deleteTask time-entries:write': async () => {
    const { id, project } = await create(gateway, '/api/v1/tasks', { project_id: await own('projects'), name: 'x' });
    await create(gateway, '/api/v1/time-entries', {
      project_id: project.id,
      task_id: id,
      hours: 1,
      date: '2026-01-02',
    });
    return { id };
  },
  'sendInvoice invoices:write': async () => ({ id: await own('invoices') }),
  'sendInvoice time-entries:read': () => ({ body: { include_time: true } }),
  'remindInvoice time-entries:read': () => ({ body: { include_time: true } }),
  'sendQuote quotes:write': async () => ({ id: await own('quotes') }),
  'sendStatement clients:read': () => ({ body: { include_link: true } }),
  'sendStatement quotes:read': () => ({ body: { include_link: true } }),
  'sendReceipt invoices:read': () => ({ body: { include_link: true } }),
  ...Object.fromEntries(
    ['getMessageSource', 'resendMessage'].flatMap((operation) => [
      [`${operation} invoices:read`, () => sentMessage('sent-invoices')],
      [`${operation} quotes:read`, () => sentMessage('sent-quotes')],
      [`${operation} payments:read`, () => sentMessage('payments')],
      [`${operation} credit-notes:read`, () => sentMessage('credit-notes')],
      [`${operation} clients:read`, () => sentMessage('sent-invoices', { 'link.type': 'client' })],
    ]),
  ),
  'getMessageSource links:read': () => sentMessage('sent-invoices'),
  'getMessageSource quotes:write': () => sentMessage('sent-quotes'),
  'getMessageSource time-entries:read': () => sentMessage('sent-invoices', { 'link.show_time': true }),
  'createInvoiceLink time-entries:read': () => ({ body: { show_time: true } }),
  'createQuoteLink time-entries:read': () => ({ body: { show_time: true } }),
  'createQuoteLink quotes:write': () => ({ body: { allow: ['accept'] } }),
  'createClientLink time-entries:read': () => ({ body: { show_time: true } }),
  'createClientLink payments:read': () => ({ body: { show_statement: true } }),
  'createClientLink credit-notes:read': () => ({ body: { show_statement: true } }),
  'createClientLink quotes:write': () => ({ body: { allow: ['accept'] } }),
  'createInvoiceFromTime expenses:write': () => ({ body: { include_expenses: true } }),
  'addTimeToInvoice expenses:write': () => ({ body: { include_expenses: true } }),
  'releaseTimeFromInvoice expenses:write': async () => ({ body: { expense_ids: [await own('expenses')] } }),
  'createRecurringInvoice time-entries:write': () => ({ body: { include_time: WORK } }),
  'createRecurringInvoice expenses:write': () => ({ body: { include_time: { ...WORK, include_expenses: true } } }),
  'updateRecurringInvoice time-entries:write': () => ({ body: { include_time: WORK } }),
  'updateRecurringInvoice expenses:write': () => ({ body: { include_time: { ...WORK, include_expenses: true } } }),
  'resumeRecurringInvoice time-entries:write': () => recurringWithWork('/pause'),
  'resumeRecurringInvoice expenses:write': () => recurringWithWork('/pause'),
  'runRecurringInvoice time-entries:write': () => recurringWithWork(),
  'runRecurringInvoice expenses:write': () => recurringWithWork(),
  'creditInvoice payments:write': () => ({ body: { settle: 'refund' } }),
  'printInvoice time-entries:read': () => ({ query: '?time=true' }),
  'createDocuments time-entries:read': () => ({ body: { time: true } }),
  'getDocumentFile time-entries:read': batchWithTime,
  'getDocumentArchive time-entries:read': batchWithTime,
};

const WORK = { group_by: 'project' };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test.each(needs)(
  'when %s is called with a key without %s (%s), then 403 names it',
  async (operation, scope, when, row) => {
    const named = scope === 'items:read' ? await linesNamingAnItem(fieldsOf(row)) : undefined;
    const known = named ?? (await CASES[`${operation} ${scope}`]?.());
    // A condition that no test causes would be a claim.
    expect([when, known !== undefined]).toEqual([when, when !== ALWAYS]);
    const id = known?.id ?? (row.path.includes('{id}') ? await own(kindOf(row.path)) : '');
    const given = await bodyFor(gateway, operation, gateway.account);
    const others = SCOPES.filter((one) => one !== scope && one !== scope.replace(':read', ':write'));
    const { key } = await create(gateway, '/api/v1/keys', { name: 'x', scopes: others });
    const path = `${row.path.replace('{id}', id).replace('{position}', '1')}${known?.query ?? ''}`;
    const body = given && { ...given, ...known?.body };
    const reply = await gateway.call(row.method.toUpperCase(), path, { key, body });

    expect([reply.status, reply.body.error]).toEqual([403, `Forbidden: API key lacks the ${scope} scope`]);
  },
);

const own = (kind: string) => make(gateway, kind, gateway.account, 'own-');

async function recurringWithWork(action?: string): Promise<Case> {
  const { id } = await create(gateway, '/api/v1/recurring-invoices', {
    client_id: await own('clients'),
    line_items: [{ description: 'x', quantity: 1, rate: 1 }],
    schedule: { unit: 'month', start_on: '2031-01-31' },
    include_time: { ...WORK, include_expenses: true },
  });
  if (action) await gateway.post(`/api/v1/recurring-invoices/${id}${action}`);
  return { id };
}

async function batchWithTime(): Promise<Case> {
  const id = await own('documents');
  await DocumentBatch.updateOne({ _id: id, account_id: gateway.account.id }, { $set: { 'looks.time': true } });
  return { id };
}

/** Sends a document by mail. @param fields that its message then has. */
async function sentMessage(kind: string, fields: object = {}): Promise<Case> {
  await setUpMail();
  const path = `/api/v1/${kind.replace('sent-', '')}/${await own(kind)}/send`;
  const { id } = (await gateway.post(path, { to: [`${newId()}@example.com`] })).body.data;
  await sendWithoutRelay(gateway.account.id, id);
  await Message.updateOne({ _id: id, account_id: gateway.account.id }, { $set: fields });
  return { id };
}

async function linesNamingAnItem(fields: object): Promise<Case> {
  const lines = [{ item_id: await own('items'), quantity: 1 }];
  // A credit note has lines or an amount.
  const amount = 'settle' in fields ? { amount: undefined } : {};
  return { body: 'line_items' in fields ? { ...amount, line_items: lines } : { extra_lines: lines } };
}
