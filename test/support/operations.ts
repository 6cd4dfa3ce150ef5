// For every operation: a record it can be called on and a body it takes. A new operation without a row here fails the matrix tests.
import { addDays, dayIn } from '#libs/day.ts';
import { keepFile } from '#libs/models/documents/batch-file.ts';
import { DocumentBatch } from '#libs/models/documents/document-batch.ts';
import { findOwn } from '#libs/models/records.ts';
import { newId } from '#libs/models/tenant.ts';
import { Delivery, deliveryId } from '#libs/models/webhooks/delivery.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { isDuplicate } from '#libs/mongo/errors.ts';
import { accept, ask, promise } from './answers.ts';
import type { TestGateway } from './gateway.ts';
import { sendWithoutRelay, setUpMail } from './messages.ts';
import { type AnyRecord, create, UNKNOWN_ID } from './records.ts';
import type { TestAccount } from './workspace.ts';

/** Makes a fresh record of the account and returns its id. */
type Make = (gateway: TestGateway, account: TestAccount, mark: string) => Promise<string>;

const made =
  (path: string, body: (gateway: TestGateway, account: TestAccount, mark: string) => Promise<object>): Make =>
  async (gateway, account, mark) => {
    const record: AnyRecord = await create(gateway, path, await body(gateway, account, mark), account);
    return record.id;
  };

const MAIL_SERVER = { host: 'smtp.example.com', port: 587, from: 'billing@example.com' };

const ATTACHED = { attachments: [{ name: 'a.csv', file: Buffer.from('date,hours\n2026-10-01,8').toString('base64') }] };

const STRIPE = { secret_key: `rk_test_${'x'.repeat(24)}`, signing_secret: `whsec_${'x'.repeat(32)}` };

async function setStripe(gateway: TestGateway, account: TestAccount): Promise<object> {
  await gateway.call('PUT', '/api/v1/account/stripe', { body: STRIPE, key: account.key });
  return {};
}

/** Gives the account a mail server of its own. Returns nothing for a body. */
async function setMailServer(gateway: TestGateway, account: TestAccount): Promise<object> {
  await gateway.call('PUT', '/api/v1/account/mail-server', { body: MAIL_SERVER, key: account.key });
  return {};
}

/** The latest link of a record, by the id of the record. */
const linksMade = new Map<string, string>();

/** Every name and text in it begins with `mark`, so that it can be found where it does not belong. */
const makers = {
  clients: made('/api/v1/clients', async (_gateway, _account, mark) => ({
    name: `${mark}name`,
    email: `${mark}mail@example.com`,
    company_name: `${mark}company`,
  })),
  projects: made('/api/v1/projects', async (gateway, account, mark) => ({
    name: `${mark}project`,
    client_id: await makers.clients(gateway, account, mark),
  })),
  'fixed-projects': made('/api/v1/projects', async (gateway, account, mark) => ({
    name: `${mark}project`,
    client_id: await makers.clients(gateway, account, mark),
    billing: 'fixed',
    fixed_amount: 1_000,
  })),
  tasks: made('/api/v1/tasks', async (gateway, account, mark) => ({
    name: `${mark}task`,
    project_id: await makers.projects(gateway, account, mark),
  })),
  'time-entries': made('/api/v1/time-entries', async (gateway, account, mark) => ({
    project_id: await makers.projects(gateway, account, mark),
    hours: 1,
    date: '2026-01-02',
    description: `${mark}work`,
  })),
  /** One of many that run: each has an owner of its own. */
  timers: made('/api/v1/timers', async (gateway, account, mark) => ({
    project_id: await makers.projects(gateway, account, mark),
    owner: `${mark}${newId()}`,
    description: `${mark}timer`,
  })),
  expenses: made('/api/v1/expenses', async (gateway, account, mark) => ({
    project_id: await makers.projects(gateway, account, mark),
    date: '2026-01-02',
    description: `${mark}expense`,
    amount: 10,
  })),
  'hour-packages': made('/api/v1/hour-packages', async (gateway, account, mark) => ({
    client_id: await makers.clients(gateway, account, mark),
    hours: 10,
  })),
  items: made('/api/v1/items', async (_gateway, _account, mark) => ({ name: `${mark}item`, rate: 1 })),
  quotes: made('/api/v1/quotes', async (gateway, account, mark) => ({
    client_id: await makers.clients(gateway, account, mark),
    amount: 1,
    description: `${mark}quote`,
  })),
  'sent-quotes': made('/api/v1/quotes', async (gateway, account, mark) => ({
    client_id: await makers.clients(gateway, account, mark),
    amount: 1,
    status: 'Sent',
    description: `${mark}quote`,
  })),
  invoices: made('/api/v1/invoices', async (gateway, account, mark) => ({
    client_id: await makers.clients(gateway, account, mark),
    amount: 1,
    due_date: '2031-01-01',
    description: `${mark}invoice`,
  })),
  /** Can be paid, several times. */
  'sent-invoices': made('/api/v1/invoices', async (gateway, account, mark) => ({
    client_id: await payingClient(gateway, account, mark),
    amount: 1_000,
    due_date: '2031-01-01',
    status: 'Sent',
    description: `${mark}invoice`,
  })),
  /** Was issued and credited in whole, so that another one may correct it. */
  'credited-invoices': async (gateway, account, mark) => {
    const id = await makers['sent-invoices'](gateway, account, mark);
    await create(gateway, `/api/v1/invoices/${id}/credit-notes`, { reason: 'correction' }, account);
    return id;
  },
  'overdue-invoices': made('/api/v1/invoices', async (gateway, account, mark) => ({
    client_id: await makers.clients(gateway, account, mark),
    amount: 1,
    due_date: '2025-01-01',
    status: 'Sent',
    description: `${mark}invoice`,
  })),
  /** A part is written off, and more can be. */
  'written-off-invoices': async (gateway, account, mark) => {
    const id = await makers['sent-invoices'](gateway, account, mark);
    await gateway.post(`/api/v1/invoices/${id}/write-off`, { amount: 1, reason: 'x' }, account);
    return id;
  },
  /** Sent, and complete by the rules of e-invoices. */
  'complete-invoices': async (gateway, account, mark) => {
    await gateway.patch('/api/v1/account', { postal_address: { country: 'DE' }, vat_id: 'DE136695976' }, account);
    const buyer = { name: `${mark}name`, email: `${mark}mail@example.com`, postal_address: { country: 'DE' } };
    const { id: client_id } = await create(gateway, '/api/v1/clients', buyer, account);
    const sold = { client_id, amount: 100, tax_rate: 19, due_date: '2031-01-01', status: 'Sent' };
    return (await create(gateway, '/api/v1/invoices', { ...sold, description: `${mark}invoice` }, account)).id;
  },
  'complete-credit-notes': async (gateway, account, mark) => {
    const id = await makers['complete-invoices'](gateway, account, mark);
    return (await create(gateway, `/api/v1/invoices/${id}/credit-notes`, { reason: 'return' }, account)).id;
  },
  'attached-invoices': async (gateway, account, mark) => {
    const id = await makers.invoices(gateway, account, mark);
    await gateway.call('PUT', `/api/v1/invoices/${id}/attachments`, { body: ATTACHED, key: account.key });
    return id;
  },
  /** Drafts with time on them, of a client that has more time to bill. */
  'timed-invoices': async (gateway, account, mark) => {
    const { client_id, project_id } = await clientWithTime(gateway, account, mark);
    const wanted = { client_id, missing_rate: 'zero', description: `${mark}invoice` };
    const invoice = await create(gateway, '/api/v1/invoices/from-time', wanted, account);
    await create(gateway, '/api/v1/time-entries', { project_id, hours: 2, date: '2026-01-03' }, account);
    return invoice.id;
  },
  'recurring-invoices': made('/api/v1/recurring-invoices', async (gateway, account, mark) => ({
    client_id: await makers.clients(gateway, account, mark),
    line_items: [{ description: `${mark}fee`, quantity: 1, rate: 1 }],
    schedule: { unit: 'month', start_on: '2031-01-31' },
  })),
  'paused-recurring-invoices': async (gateway, account, mark) => {
    const id = await makers['recurring-invoices'](gateway, account, mark);
    await gateway.post(`/api/v1/recurring-invoices/${id}/pause`, undefined, account);
    return id;
  },
  /** A part is on an invoice, and the rest is credit. */
  payments: made('/api/v1/payments', async (gateway, account, mark) => ({
    client_id: await payingClient(gateway, account, mark),
    amount: 1_000,
    note: `${mark}payment`,
    allocations: [{ invoice_id: await makers['sent-invoices'](gateway, account, mark), amount: 1 }],
  })),
  /** A part pays an invoice, and the rest is credit. */
  'credit-notes': async (gateway, account, mark) => {
    const at = `/api/v1/invoices/${await makers['sent-invoices'](gateway, account, mark)}`;
    await create(gateway, `${at}/payments`, {}, account);
    const body = { reason: 'return', description: `${mark}credit` };
    const { id } = await create(gateway, `${at}/credit-notes`, body, account);
    const invoice_id = await makers['sent-invoices'](gateway, account, mark);
    await create(gateway, `/api/v1/credit-notes/${id}/allocations`, { invoice_id, amount: 1 }, account);
    return id;
  },
  documents: async (gateway, account, mark) => {
    // An account may have only so many: the old ones make room.
    const old = (await gateway.get('/api/v1/documents', account)).body.data as AnyRecord[];
    for (const { id } of old) await gateway.delete(`/api/v1/documents/${id}`, account);
    const documents = [{ type: 'invoice', id: await makers.invoices(gateway, account, mark) }];
    const { data } = (await gateway.post('/api/v1/documents', { documents }, account)).body;
    const batch = await findOwn(DocumentBatch, account.id, data.id);
    if (!batch) throw new Error('the batch was not stored');
    // A gateway with a renderer may print it at the same time. Without its lease it keeps nothing.
    const file = Buffer.from('%PDF-1.7\n%%EOF\n');
    const settled = { 'documents.0.status': 'done', 'documents.0.size_bytes': file.length };
    const finished = { status: 'done', done: 1, completed_at: new Date(), ...settled };
    await DocumentBatch.updateOne(
      { _id: data.id, account_id: account.id },
      { $set: finished, $unset: { due_at: 1, slot: 1, lease_id: 1 } },
    );
    await keepFile((await findOwn(DocumentBatch, account.id, data.id)) ?? batch, 0, file);
    return data.id;
  },
  /** One in the queue: no mail service runs. */
  messages: async (gateway, account, mark) => {
    await setUpMail();
    const id = await makers.invoices(gateway, account, mark);
    // A bounce suppresses an address, so that each message has its own.
    const to = [`${mark}${newId()}@example.com`];
    return (await gateway.post(`/api/v1/invoices/${id}/send`, { to }, account)).body.data.id;
  },
  /** One that was sent, with the mail as it was sent. */
  'sent-messages': async (gateway, account, mark) => {
    const id = await makers.messages(gateway, account, mark);
    await sendWithoutRelay(account.id, id);
    return id;
  },
  /** The address of one, which names it. */
  suppressions: async (gateway, account, mark) => {
    const id = await makers['sent-messages']?.(gateway, account, mark);
    const { message_id, recipients } = (await gateway.get(`/api/v1/messages/${id}`, account)).body.data;
    const report = { message_id, recipient: recipients[0].address, kind: 'hard' };
    await gateway.post('/api/v1/messages/bounces', report, account);
    return report.recipient;
  },
  ...Object.fromEntries(
    (['invoices', 'quotes', 'clients'] as const).map((kind): [string, Make] => [
      `linked-${kind}`,
      async (gateway, account, mark) => {
        const id = await make(gateway, kind === 'clients' ? kind : `sent-${kind}`, account, mark);
        const link = await create(gateway, `/api/v1/${kind}/${id}/links`, {}, account);
        linksMade.set(id, link.id);
        return id;
      },
    ]),
  ),
  /** About an invoice that is due. */
  questions: async (gateway, account, mark) => {
    const id = await makers['sent-invoices'](gateway, account, mark);
    await ask(account.id, { type: 'invoice', id, text: `${mark}question` });
    const { body } = await gateway.get(`/api/v1/questions?document_id=${id}`, account);
    return body.data[0].id;
  },
  'promised-invoices': async (gateway, account, mark) => {
    const id = await makers['sent-invoices'](gateway, account, mark);
    await promise(account.id, id, addDays(dayIn('UTC'), 7));
    return id;
  },
  'accepted-quotes': async (gateway, account, mark) => {
    const id = await makers.quotes(gateway, account, mark);
    await gateway.patch(`/api/v1/quotes/${id}`, { status: 'Sent' }, account);
    await accept(gateway.workspace, account.id, id, { name: `${mark}name` });
    return id;
  },
  keys: made('/api/v1/keys', async (_gateway, _account, mark) => ({ name: `${mark}key`, scopes: ['clients:read'] })),
  webhooks: made('/api/v1/webhooks', async (gateway, account, mark) => {
    // An account may have only so many: the oldest make room.
    const old = (await gateway.get('/api/v1/webhooks?offset=10', account)).body.data as AnyRecord[];
    for (const { id } of old) await gateway.delete(`/api/v1/webhooks/${id}`, account);
    return { url: 'http://127.0.0.1:9/hook', description: `${mark}hook` };
  }),
  events: async (gateway, account, mark) => {
    await makers.clients(gateway, account, mark);
    return String((await Event.findOne({ account_id: account.id }).sort({ sequence: -1 }).lean())?._id);
  },
  deliveries: async (gateway, account, mark) => {
    const endpoint_id = await makers.webhooks(gateway, account, mark);
    const event_id = await makers.events(gateway, account, mark);
    const _id = deliveryId(event_id, endpoint_id);
    // The webhook service makes them. It runs in few tests, and then may have been quicker.
    const rest = { event_type: 'client.created', status: 'dead', created_at: new Date(), updated_at: new Date() };
    await Delivery.create({ _id, account_id: account.id, event_id, endpoint_id, ...rest } as never).catch(
      (error: unknown) => {
        if (!isDuplicate(error)) throw error;
      },
    );
    return _id;
  },
} satisfies Record<string, Make> as Record<string, Make> & {
  clients: Make;
  projects: Make;
  quotes: Make;
  invoices: Make;
  'sent-invoices': Make;
  'complete-invoices': Make;
  'recurring-invoices': Make;
  messages: Make;
  webhooks: Make;
  events: Make;
};

const payingClients = new Map<string, Promise<string>>();

/** One client of the account, so that a payment and the invoice that a body names are of the same. */
function payingClient(gateway: TestGateway, account: TestAccount, mark: string): Promise<string> {
  const client = payingClients.get(account.id) ?? makers.clients(gateway, account, mark);
  payingClients.set(account.id, client);
  return client;
}

async function wholeStatement(gateway: TestGateway, account: TestAccount) {
  return { client_id: await makers.clients(gateway, account, 'own-'), from: '0001-01-01', to: dayIn('UTC') };
}

interface Called {
  body?: object;
  /** Kinds of records that the body refers to. */
  refs?: (keyof typeof makers)[];
  /** For a body that names records in a way of its own. */
  naming?: (gateway: TestGateway, account: TestAccount) => Promise<object>;
  /** The parameters that its query must have. */
  query?: (gateway: TestGateway, account: TestAccount) => Promise<Record<string, string>>;
  printed?: boolean;
}

/** `body` may be called with the ids of the account's own records. Operations on a path with an id are called on `path`'s kind of record. */
export const operations: Record<string, Called> = {
  getAccount: {},
  updateAccount: { body: { name: 'New' } },
  createApiKey: { body: { name: 'x', scopes: ['clients:read'] } },
  listApiKeys: {},
  getApiKey: {},
  revokeApiKey: {},
  rotateApiKey: { body: {} },
  addClient: { body: { name: 'x', email: 'x@example.com' } },
  listClients: {},
  getClient: {},
  updateClient: { body: { name: 'New' } },
  anonymiseClient: {},
  deleteClient: {},
  createProject: { body: { name: 'x', fixed_amount: 100 }, refs: ['clients'] },
  listProjects: {},
  getProject: {},
  updateProject: { body: { name: 'New' } },
  billProject: { body: { percent: 1 } },
  deleteProject: {},
  createTask: { body: { name: 'x' }, refs: ['projects'] },
  listTasks: {},
  getTask: {},
  updateTask: { body: { name: 'New' } },
  deleteTask: {},
  createTimeEntry: { body: { hours: 1, date: '2026-01-02' }, refs: ['projects'] },
  listTimeEntries: {},
  getTimeEntry: {},
  updateTimeEntry: { body: { hours: 2 } },
  deleteTimeEntry: {},
  createTimeEntries: {
    body: {},
    naming: async (gateway, account) => ({
      time_entries: [{ project_id: await make(gateway, 'projects', account, 'own-'), hours: 1, date: '2026-01-02' }],
    }),
  },
  settleTimeEntries: {
    body: { status: 'unbilled' },
    naming: async (gateway, account) => ({
      time_entry_ids: [await make(gateway, 'time-entries', account, 'own-')],
    }),
  },
  startTimer: { body: {}, refs: ['projects'] },
  listTimers: {},
  getTimer: {},
  updateTimer: { body: { description: 'New' } },
  stopTimer: { body: {} },
  discardTimer: {},
  createExpense: { body: { date: '2026-01-02', description: 'x', amount: 1 }, refs: ['projects'] },
  listExpenses: {},
  getExpense: {},
  updateExpense: { body: { amount: 2 } },
  deleteExpense: {},
  settleExpenses: {
    body: { status: 'unbilled' },
    naming: async (gateway, account) => ({ expense_ids: [await make(gateway, 'expenses', account, 'own-')] }),
  },
  createHourPackage: { body: { hours: 1 }, refs: ['clients'] },
  listHourPackages: {},
  getHourPackage: {},
  updateHourPackage: { body: { hours: 2 } },
  deleteHourPackage: {},
  listDrawdowns: {},
  listUnbilledTime: {},
  getFollowUps: {},
  createInvoiceFromTime: {
    body: { missing_rate: 'zero' },
    naming: async (gateway, account) => ({ client_id: (await clientWithTime(gateway, account, 'own-')).client_id }),
  },
  addTimeToInvoice: { body: { missing_rate: 'zero' } },
  releaseTimeFromInvoice: { body: {} },
  getInvoiceTime: {},
  createItem: { body: { name: 'x', rate: 1 } },
  listItems: {},
  getItem: {},
  updateItem: { body: { name: 'New' } },
  deleteItem: {},
  createQuote: { body: { amount: 1 }, refs: ['clients'] },
  listQuotes: {},
  getQuote: {},
  updateQuote: { body: { amount: 2 } },
  deleteQuote: {},
  convertQuote: { body: { accept: true } },
  createInvoice: { body: { amount: 1, due_date: '2031-01-01' }, refs: ['clients'] },
  listInvoices: {},
  getInvoice: {},
  updateInvoice: { body: { amount: 2 } },
  deleteInvoice: {},
  writeOffInvoice: { body: { reason: 'x' } },
  takeBackWriteOff: {},
  createRecurringInvoice: {
    body: {
      line_items: [{ description: 'x', quantity: 1, rate: 1 }],
      schedule: { unit: 'week', start_on: '2031-01-01' },
    },
    refs: ['clients'],
  },
  listRecurringInvoices: {},
  getRecurringInvoice: {},
  updateRecurringInvoice: { body: { due_days: 7 } },
  deleteRecurringInvoice: {},
  pauseRecurringInvoice: {},
  resumeRecurringInvoice: { body: {} },
  runRecurringInvoice: { body: {} },
  skipOccurrence: { body: { on: '2031-01-31' } },
  endRecurringInvoice: {},
  listOccurrences: {},
  createPayment: { body: { amount: 1 }, refs: ['clients'] },
  payInvoice: { body: { amount: 1 } },
  listPayments: {},
  getPayment: {},
  updatePayment: { body: { note: 'New' } },
  allocatePayment: {
    body: { amount: 1 },
    naming: async (gateway, account) => ({ invoice_id: await makers['sent-invoices'](gateway, account, 'own-') }),
  },
  releasePayment: { body: {} },
  voidPayment: { body: { reason: 'x' } },
  refundPayment: { body: { amount: 1 } },
  getInvoicePayments: {},
  // In place of the lines of the example.
  creditInvoice: { body: { reason: 'return', amount: 1, line_items: undefined } },
  listCreditNotes: {},
  getCreditNote: {},
  allocateCreditNote: {
    body: { amount: 1 },
    naming: async (gateway, account) => ({ invoice_id: await makers['sent-invoices'](gateway, account, 'own-') }),
  },
  releaseCreditNote: { body: {} },
  refundCreditNote: { body: { amount: 1 } },
  getClientBalance: {},
  getStatement: { query: wholeStatement },
  printStatement: { printed: true, query: wholeStatement },
  getClientHours: {},
  printReceipt: { printed: true },
  printCreditNote: { printed: true },
  printQuote: { printed: true },
  printInvoice: { printed: true },
  setInvoiceAttachments: { body: ATTACHED },
  getInvoiceAttachments: {},
  getInvoiceAttachment: {},
  getInvoiceAsXml: {},
  checkEInvoice: {},
  getCreditNoteAsXml: {},
  readEInvoice: {
    body: {
      file: Buffer.from('<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>').toString('base64'),
    },
  },
  createDocuments: {
    body: {},
    naming: async (gateway, account) => ({
      documents: [{ type: 'invoice', id: await makers.invoices(gateway, account, 'own-') }],
    }),
  },
  listDocuments: {},
  getDocuments: {},
  getDocumentFile: {},
  getDocumentArchive: {},
  deleteDocuments: {},
  sendInvoice: { body: {}, naming: setUpMail },
  remindInvoice: { body: {}, naming: setUpMail },
  sendQuote: { body: {}, naming: setUpMail },
  sendCreditNote: { body: {}, naming: setUpMail },
  sendReceipt: { body: {}, naming: setUpMail },
  sendStatement: { body: { period: { from: '2026-01-01', to: '2026-01-31' } }, naming: setUpMail },
  listMessages: {},
  reportBounce: {
    body: { kind: 'hard' },
    naming: async (gateway, account) => {
      const message_id = await make(gateway, 'sent-messages', account, 'own-');
      const { recipients } = (await gateway.get(`/api/v1/messages/${message_id}`, account)).body.data;
      return { message_id, recipient: recipients[0].address };
    },
  },
  getMessage: {},
  getMessageSource: {},
  resendMessage: { body: {} },
  cancelMessage: {},
  listSuppressions: {},
  deleteSuppression: {},
  getMailServer: { naming: setMailServer },
  setMailServer: { body: MAIL_SERVER },
  deleteMailServer: { naming: setMailServer },
  testMailServer: { naming: setMailServer },
  getStripe: { naming: setStripe },
  setStripe: { body: STRIPE },
  deleteStripe: { naming: setStripe },
  getMailTemplate: {},
  setMailTemplate: { body: { texts: [] } },
  previewMailTemplate: { body: {} },
  createInvoiceLink: { body: {} },
  listInvoiceLinks: {},
  revokeInvoiceLink: {},
  createQuoteLink: { body: {} },
  listQuoteLinks: {},
  revokeQuoteLink: {},
  createClientLink: { body: {} },
  listClientLinks: {},
  revokeClientLink: {},
  listQuestions: {},
  getQuestion: {},
  answerQuestion: { body: { answer: 'x' } },
  closeQuestion: {},
  listPromises: {},
  deletePromises: {},
  getQuoteAcceptance: {},
  listInvoiceActivity: {},
  listQuoteActivity: {},
  listCreditNoteActivity: {},
  auditNumbering: {},
  createWebhook: { body: { url: 'http://127.0.0.1:9/hook' } },
  listWebhooks: {},
  getWebhook: {},
  updateWebhook: { body: { description: 'New' } },
  deleteWebhook: {},
  testWebhook: {},
  rotateWebhookSecret: { body: {} },
  createPortalLink: {},
  diagnoseSignature: { body: { headers: {}, body: '{}' } },
  listWebhookDeliveries: {},
  replayWebhook: { body: { since: '2026-01-01T00:00:00Z' } },
  getDelivery: {},
  replayDelivery: {},
  listEvents: {},
  listEventTypes: {},
  getEvent: {},
  replayEvent: {},
  generatePdf: { body: {} },
};

async function clientWithTime(gateway: TestGateway, account: TestAccount, mark: string) {
  const client_id = await makers.clients(gateway, account, mark);
  const { id: project_id } = await create(gateway, '/api/v1/projects', { name: `${mark}project`, client_id }, account);
  await create(gateway, '/api/v1/time-entries', { project_id, hours: 1, date: '2026-01-02' }, account);
  return { client_id, project_id };
}

/** The kind of record in the path: `/api/v1/quotes/{id}/pdf` → quotes. */
export function kindOf(path: string): string {
  // Drafts cannot be paid, and time is on drafts.
  if (/\/invoices\/[^/]+\/write-off$/.test(path)) return 'written-off-invoices';
  if (/\/invoices\/[^/]+\/(payments|credit-notes)$/.test(path)) return 'sent-invoices';
  if (/\/invoices\/[^/]+\/promises$/.test(path)) return 'promised-invoices';
  if (/\/quotes\/[^/]+\/acceptance$/.test(path)) return 'accepted-quotes';
  if (/\/invoices\/[^/]+\/remind$/.test(path)) return 'overdue-invoices';
  if (/\/projects\/[^/]+\/bill$/.test(path)) return 'fixed-projects';
  if (/\/messages\/[^/]+\/(source|resend)$/.test(path)) return 'sent-messages';
  if (/\/invoices\/[^/]+\/attachments/.test(path)) return 'attached-invoices';
  if (/\/(invoices|credit-notes)\/[^/]+\/e-invoice$/.test(path)) return `complete-${path.split('/')[3]}`;
  if (/\/recurring-invoices\/[^/]+\/resume$/.test(path)) return 'paused-recurring-invoices';
  if (/\/invoices\/[^/]+\/time(-entries)?(\/|$)/.test(path)) return 'timed-invoices';
  if (/\/links(\/|$)/.test(path)) return `linked-${path.split('/')[3]}`;
  return /^\/api\/v1\/([\w-]+)/.exec(path)?.[1] ?? '';
}

/** Fills the path of an operation: the id of a record, and a sample for each other parameter. */
export function filledPath(path: string, id: string): string {
  return path
    .replace(/\{(?:id|address)\}/, id)
    .replace('{link_id}', linksMade.get(id.toLowerCase()) ?? UNKNOWN_ID)
    .replace('{kind}', 'invoice')
    .replace('{position}', '1');
}

/** True for a path that names a record: by its id, or a suppression by its address. */
export function namesRecord(path: string): boolean {
  return /\{(?:id|address)\}/.test(path);
}

/** The field that refers to a record of a kind. */
export const REFERENCES: Record<string, string> = {
  client_id: 'clients',
  project_id: 'projects',
  task_id: 'tasks',
  invoice_id: 'invoices',
  webhook_id: 'webhooks',
  corrects: 'invoices',
};

export async function make(gateway: TestGateway, kind: string, account: TestAccount, mark: string): Promise<string> {
  const maker = makers[kind];
  if (!maker) throw new Error(`test/support/operations.ts does not know how to make one of ${kind}`);
  return maker(gateway, account, mark);
}

/** The parameters that the query of the operation must have. */
export async function neededQuery(
  gateway: TestGateway,
  operation: string,
  account: TestAccount,
): Promise<Record<string, string>> {
  return (await operations[operation]?.query?.(gateway, account)) ?? {};
}

/** A query with the needed parameters that it does not name itself. */
export function withNeeded(query: string, needed: Record<string, string>): string {
  const given = new URLSearchParams(query);
  const rest = Object.entries(needed).filter(([name]) => !given.has(name));
  return [query, new URLSearchParams(rest).toString()].filter(Boolean).join('&');
}

/** A body the operation takes, with references to records of the account's own. */
export async function bodyFor(
  gateway: TestGateway,
  operation: string,
  account: TestAccount,
): Promise<object | undefined> {
  const { body, refs = [], naming } = operations[operation] ?? {};
  if (!body) {
    // Without a body it can only prepare what the operation needs.
    await naming?.(gateway, account);
    return undefined;
  }
  const references: Record<string, string> = {};
  for (const kind of refs) {
    const field = Object.keys(REFERENCES).find((name) => REFERENCES[name] === kind);
    if (field) references[field] = await make(gateway, String(kind), account, 'own-');
  }
  return { ...body, ...references, ...(await naming?.(gateway, account)) };
}
