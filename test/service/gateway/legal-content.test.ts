// An invoice without what the law wants is issued with warnings, or is 409 in an account that issues strictly; one that cannot be expressed as the
// e-invoice that its client needs is 409. Both hold in every way an invoice is issued.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dayIn } from '#libs/day.ts';
import { invoiceResponse } from '#libs/responses/invoice.ts';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';
import { setUpMail } from '../../support/messages.ts';
import { runRecurringInvoices } from '../../support/rounds.ts';
import { routeTable } from '../../support/route-table.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const TODAY = dayIn('UTC');
const POSTAL = { line1: '1 Mill Lane', city: 'Kiel', country: 'DE' };
const LINES = [{ description: 'Mill', quantity: 10, rate: 95 }];
const WARNING = {
  field: 'account.tax_number',
  code: 'required_by_law',
  message: 'account.tax_number must be on an invoice from DE (§ 14(4) No. 2 UStG)',
  params: { country: 'DE', source: '§ 14(4) No. 2 UStG' },
};

/** Some of what XRechnung asks for and the studio has not. */
const LACKED = ['account.vat_id', 'account.phone', 'account.postal_address.postal_code', 'invoice.buyer_reference'];
/** All of it, but what belongs to the client. */
const COMPLETE = {
  postal_address: { ...POSTAL, postal_code: '24103' },
  default_tax_rate: 19,
  vat_id: 'DE136695976',
  phone: '+49 431 1',
  email: 'hello@north.example',
  payment_options: [{ type: 'bank_transfer', iban: 'DE89370400440532013000' }],
};

interface Studio {
  api: Verbs;
  client_id: string;
  project_id: string;
}

/** A studio in Germany, which has all but its tax number. */
async function studio(settings: object = {}): Promise<Studio> {
  const { key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  await api.patch('/api/v1/account', { postal_address: POSTAL, hourly_rate: 950, currency: 'EUR', ...settings });
  const client = { name: 'Ada', email: 'ada@example.com', postal_address: POSTAL };
  const { id: client_id } = (await api.post('/api/v1/clients', client)).body.data;
  const project = { client_id, name: 'Mill', billing: 'fixed', fixed_amount: 1000, currency: 'EUR' };
  const { id: project_id } = (await api.post('/api/v1/projects', project)).body.data;
  return { api, client_id, project_id };
}

/** Operations that change a draft or write off, and issue nothing. */
const NOT_ISSUING = ['addTimeToInvoice', 'releaseTimeFromInvoice', 'writeOffInvoice'];

/** Issues an invoice in each way. The name of the operation is that of the reference. */
const WAYS: Record<string, (studio: Studio) => ReturnType<Verbs['post']>> = {
  createInvoice: ({ api, client_id }) =>
    api.post('/api/v1/invoices', {
      client_id,
      due_date: '2099-12-31',
      status: 'Sent',
      currency: 'EUR',
      service_date: TODAY,
      line_items: LINES,
    }),
  updateInvoice: async ({ api, client_id }) => {
    const draft = { client_id, due_date: '2099-12-31', currency: 'EUR', service_date: TODAY, line_items: LINES };
    const made = await api.post('/api/v1/invoices', draft);
    expect([made.status, made.body.warnings]).toEqual([201, undefined]);
    return api.patch(`/api/v1/invoices/${made.body.data.id}`, { status: 'Sent' });
  },
  createInvoiceFromTime: async ({ api, client_id }) => {
    const { id: project_id } = (await api.post('/api/v1/projects', { client_id, name: 'Hourly' })).body.data;
    await api.post('/api/v1/time-entries', { project_id, hours: 1, date: TODAY, description: 'Mill' });
    return api.post('/api/v1/invoices/from-time', { client_id, project_ids: [project_id], status: 'Sent' });
  },
  convertQuote: async ({ api, client_id }) => {
    const quote = { client_id, amount: 950, currency: 'EUR', service_date: TODAY, line_items: LINES };
    const { id } = (await api.post('/api/v1/quotes', quote)).body.data;
    return api.post(`/api/v1/quotes/${id}/convert`, { accept: true, status: 'Sent' });
  },
  billProject: ({ api, project_id }) =>
    api.post(`/api/v1/projects/${project_id}/bill`, { status: 'Sent', service_date: TODAY }),
  sendInvoice: async ({ api, client_id }) => {
    await setUpMail();
    const draft = { client_id, due_date: '2099-12-31', currency: 'EUR', service_date: TODAY, line_items: LINES };
    const path = `/api/v1/invoices/${(await api.post('/api/v1/invoices', draft)).body.data.id}`;
    const sent = await api.post(`${path}/send`, {});
    // The response is the message: the invoice is read.
    const { data } = (await api.get(path)).body;
    return sent.status === 202 ? { ...sent, body: { ...sent.body, data } } : sent;
  },
  runRecurringInvoice: async ({ api, client_id }) => {
    const recurring = { client_id, line_items: LINES, schedule: { unit: 'week', start_on: TODAY }, create_as: 'Sent' };
    const { id } = (await api.post('/api/v1/recurring-invoices', recurring)).body.data;
    return api.post(`/api/v1/recurring-invoices/${id}/run`, {});
  },
};

describe.each(Object.entries(WAYS))('%s', (operation, issue) => {
  test('when something is missing, then the invoice is issued and the response says what', async () => {
    const { body } = await issue(await studio());
    expect([body.data?.status, body.warnings]).toEqual(['Sent', [WARNING]]);
  });

  test('when nothing is missing, then there are no warnings', async () => {
    const { body } = await issue(await studio({ tax_number: '12/345/67890' }));
    expect([body.data?.status, Object.keys(body)]).toEqual(['Sent', ['success', 'data']]);
  });

  test('when the account issues strictly, then it is 409 with what is missing, and nothing is issued', async () => {
    const made = await studio({ strict_invoices: true });
    const { status, body } = await issue(made);
    expect([status, body]).toMatchObject([
      409,
      { error: 'The invoice lacks what the law wants on it', code: 'invoice_incomplete', problems: [WARNING] },
    ]);
    const listed = operation === 'convertQuote' ? [WARNING.message] : { [WARNING.field]: [WARNING.message] };
    expect(body.details).toEqual(listed);
    expect((await made.api.get('/api/v1/invoices?status=Sent')).body.pagination.total).toBe(0);
  });

  test('when the account needs e-invoices, then it is 409 with all that the format and the law ask for, and nothing is issued', async () => {
    const made = await studio({ strict_invoices: true, e_invoice_format: 'xrechnung-cii' });
    const { status, body } = await issue(made);
    expect([status, body]).toMatchObject([
      409,
      {
        error: 'The invoice lacks what XRechnung asks for',
        code: 'e_invoice_incomplete',
        params: { document: 'invoice' },
      },
    ]);
    const fields: string[] = body.problems.map((problem: { field: string }) => problem.field);
    expect(fields).toEqual(expect.arrayContaining([...LACKED, WARNING.field]));
    expect(operation === 'convertQuote' ? body.details.join() : Object.keys(body.details).join()).toContain(
      'account.phone',
    );
    expect((await made.api.get('/api/v1/invoices?status=Sent')).body.pagination.total).toBe(0);
  });

  test('when the client needs no e-invoice, or nothing is missing for it, then the invoice is issued', async () => {
    const free = await studio({ e_invoice_format: 'xrechnung-cii' });
    await free.api.patch(`/api/v1/clients/${free.client_id}`, { e_invoice_format: 'none' });
    expect((await issue(free)).body.data?.status).toBe('Sent');

    const whole = await studio({ e_invoice_format: 'xrechnung-ubl', ...COMPLETE, tax_number: '12/345/67890' });
    const { api, client_id } = whole;
    await api.patch(`/api/v1/clients/${client_id}`, {
      buyer_reference: 'B-1',
      postal_address: { ...POSTAL, postal_code: '24103' },
    });
    const { body } = await issue(whole);
    expect([body.error, body.details, body.data?.status]).toEqual([undefined, undefined, 'Sent']);
    const checked = await api.get(`/api/v1/invoices/${body.data.id}/e-invoice/check`);
    expect(checked.body.data['xrechnung-ubl']).toEqual({ ready: true, problems: {} });
  });
});

test('when an operation makes an invoice that may be Sent, then it is among those above, and the reference has its warnings', () => {
  const issuing = routeTable.filter(
    ({ method, operation, docs }) =>
      ['post', 'patch'].includes(method) &&
      (docs.response === invoiceResponse || operation === 'sendInvoice') &&
      !NOT_ISSUING.includes(operation),
  );
  expect(issuing.map(({ operation }) => operation).toSorted()).toEqual(Object.keys(WAYS).toSorted());
  expect(issuing.filter(({ docs }) => !docs.warns).map(({ operation }) => operation)).toEqual([]);
});

test('when an invoice is only tried, or tried again, then the warnings are there too', async () => {
  const { api, client_id } = await studio();
  const body = { client_id, due_date: '2099-12-31', status: 'Sent', currency: 'EUR', service_date: TODAY, amount: 950 };
  const described = { ...body, description: 'Mill' };
  expect((await api.post('/api/v1/invoices?dry_run=true', described)).body.warnings).toEqual([WARNING]);
  const post = () => api.post('/api/v1/invoices', described, { headers: { 'Idempotency-Key': 'warned' } });
  const first = await post();
  expect(first.body.warnings).toEqual([WARNING]);
  expect((await post()).body).toEqual(first.body);
});

test('when a recurring invoice lacks something under strict rules, then its occurrence waits and says why', async () => {
  const { api, client_id } = await studio({ strict_invoices: true });
  const recurring = { client_id, line_items: LINES, schedule: { unit: 'week', start_on: TODAY }, create_as: 'Sent' };
  const path = `/api/v1/recurring-invoices/${(await api.post('/api/v1/recurring-invoices', recurring)).body.data.id}`;
  await runRecurringInvoices();
  expect((await api.get(path)).body.data).toMatchObject({
    next_on: TODAY,
    occurrences_made: 0,
    last_error: { code: 'invoice_incomplete', message: WARNING.message, problems: [WARNING] },
  });

  await api.patch('/api/v1/account', { tax_number: '12/345/67890' });
  await runRecurringInvoices(new Date(Date.now() + 24 * 3600 * 1000));
  expect((await api.get(path)).body.data).toMatchObject({ occurrences_made: 1, last_error: null });
  expect((await api.get('/api/v1/invoices')).body.data).toMatchObject([{ status: 'Sent' }]);
});
