// Taxes by rate and category on invoices, quotes and recurring invoices: what is stored, returned, announced and rejected.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';
import { lastEvent } from '../../support/records.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const today = dayIn('UTC');
const S = (rate: number, taxable: number, tax: number) => ({ rate, category: 'S', taxable, tax, note: null });
const DRAWINGS = { description: 'Drawings', quantity: 10, rate: 100 };
const BOOK = { description: 'Book', quantity: 2, rate: 25, tax_rate: 7, unit: 'piece' };

interface Studio {
  id: string;
  api: Verbs;
  client_id: string;
  made(path: string, body?: object): Promise<[number, Record<string, never> & { error?: string; details?: unknown }]>;
}

/** A new account with one client. */
async function studio(profile: object = {}, client: object = {}): Promise<Studio> {
  const { id, key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  await api.patch('/api/v1/account', { name: 'Studio North', ...profile });
  const made_client = await api.post('/api/v1/clients', { name: 'Ada', email: 'ada@example.com', ...client });
  const client_id = made_client.body.data.id;
  const made: Studio['made'] = async (resource, body = {}) => {
    const dates = resource === 'invoices' ? { due_date: '2099-12-31' } : {};
    const reply = await api.post(`/api/v1/${resource}`, { client_id, currency: 'EUR', ...dates, ...body });
    return [reply.status, reply.status < 300 ? reply.body.data : reply.body];
  };
  return { id, api, client_id, made };
}

describe('lines with rates of their own', () => {
  test('when rates are mixed, then each is rounded once, even if prices include tax, and event and list show the same', async () => {
    const { made, api, id } = await studio();
    const line = (quantity: number, rate: number, tax_rate: number) => ({
      description: 'Work',
      quantity,
      rate,
      tax_rate,
    });
    const [, net] = await made('invoices', { line_items: [line(2, 1.73, 13), line(2, 0.03, 24)] });
    expect(net).toMatchObject({
      amount: 3.52,
      tax_amount: 0.46,
      total: 3.98,
      taxes: [S(24, 0.06, 0.01), S(13, 3.46, 0.45)],
    });
    const inclusive = { line_items: [line(2, 1.96, 13), line(2, 0.04, 24)], prices_include_tax: true };
    const [, gross] = await made('invoices', inclusive);
    expect(gross).toMatchObject({
      ...{ amount: 3.53, subtotal: 3.53, tax_amount: 0.47, total: 4, amount_due: 4, prices_include_tax: true },
      taxes: [S(24, 0.06, 0.02), S(13, 3.47, 0.45)],
    });
    expect((await lastEvent(id)).data).toEqual(gross);
    expect((await api.get('/api/v1/invoices')).body.data).toEqual([gross, net]);
  });

  test('when a line was sent with tax and unit, then only that line shows them, and the lines can be sent back unchanged', async () => {
    const { made, api } = await studio();
    const [status, invoice] = await made('invoices', { line_items: [DRAWINGS, BOOK], tax_rate: 19 });
    expect(status).toBe(201);
    expect(invoice['line_items']).toEqual([
      { description: 'Drawings', qty: '10', rate: '100', discount: '0' },
      { description: 'Book', qty: '2', rate: '25', discount: '0', tax_rate: 7, unit: 'piece' },
    ]);
    const path = `/api/v1/invoices/${invoice['id']}`;
    const { line_items, tax_rate, prices_include_tax, amount } = invoice;
    const same = await api.patch(path, { line_items, tax_rate, prices_include_tax, amount });
    expect(same.body.data).toEqual(invoice);
    const other = await api.patch(path, { line_items: [{ ...BOOK, tax_category: 'E', tax_rate: null }] });
    expect(other.body.data).toMatchObject({
      tax_amount: 0,
      total: 50,
      taxes: [{ category: 'E', note: 'Exempt from tax' }],
    });
    const plain = await api.patch(path, { line_items: [DRAWINGS] });
    expect(plain.body.data).toMatchObject({ total: 1190, taxes: [S(19, 1000, 190)] });
  });

  test('when prices are changed to include tax and back, then the sum of the lines is the total, then the amount again', async () => {
    const { made, api } = await studio();
    for (const resource of ['invoices', 'quotes']) {
      const [, { id }] = await made(resource, { amount: 1000, line_items: [DRAWINGS], tax_rate: 19 });
      const path = `/api/v1/${resource}/${id}`;
      const gross = (await api.patch(path, { prices_include_tax: true })).body.data;
      expect(gross).toMatchObject({ amount: 840.34, tax_amount: 159.66, total: 1000 });
      expect((await api.patch(path, { amount: gross.amount, prices_include_tax: true })).body.data).toEqual(gross);
      const net = (await api.patch(path, { prices_include_tax: null })).body.data;
      expect(net).toMatchObject({ amount: 1000, tax_amount: 190, total: 1190, prices_include_tax: false });
    }
  });

  test('when lines and taxes are invalid, then 400 names all of them at once and no number is drawn', async () => {
    const { made } = await studio({ default_tax_rate: 19 });
    const lines = [
      { ...DRAWINGS, unit: 'hours' },
      { ...DRAWINGS, tax_category: 'AE', tax_rate: 19 },
      { ...DRAWINGS, tax_category: 'S', tax_rate: 0 },
      { ...DRAWINGS, tax_category: 'X' },
      { ...DRAWINGS, tax_rate: 101 },
    ];
    const [status, { details }] = await made('invoices', { line_items: lines, prices_include_tax: 'yes' });
    expect(status).toBe(400);
    const problems = Object.values(details as object)
      .flat()
      .join('\n');
    for (const text of [
      'line_items[0].unit must be one of hour, day,',
      'line_items[1].tax_rate must be 0 in tax_category AE',
      'line_items[2].tax_rate must be greater than 0 in tax_category S',
      'line_items[3].tax_category must be one of S, Z, E, AE, G, O, K',
      'line_items[4].tax_rate must be less than or equal to 100',
      'prices_include_tax must be a boolean',
    ]) {
      expect(problems).toContain(text);
    }
    const cases: [object, string][] = [
      [{ line_items: [{ ...DRAWINGS, tax_category: 'S' }], tax_rate: 0 }, 'tax_rate must be greater than 0'],
      [{ amount: 100, prices_include_tax: true }, 'prices_include_tax needs line_items'],
      [{ line_items: [DRAWINGS, { ...DRAWINGS, rate: -100, tax_rate: 7 }] }, 'must not sum to 0'],
      [{ line_items: [DRAWINGS, { ...DRAWINGS, rate: -99, tax_rate: 100 }] }, 'must not sum to less than 0 with tax'],
      [
        { prices_include_tax: true, line_items: [DRAWINGS, { ...DRAWINGS, rate: -99, tax_category: 'E' }] },
        'must not sum to less than 0 before tax',
      ],
    ];
    for (const [body, text] of cases) {
      const [code, problem] = await made('invoices', body);
      expect([code, JSON.stringify(problem)]).toEqual([400, expect.stringContaining(text)]);
    }
    const [, quote] = await made('quotes', { amount: 900, line_items: [DRAWINGS], prices_include_tax: true });
    expect(quote['details']).toEqual(['amount must be the sum of line_items, 1000, or 840.34, that without tax']);
    expect((await made('invoices', { line_items: [{ ...DRAWINGS, unit: 'KWH' }] }))[1]['invoice_number']).toBe(
      'INV-0001',
    );
  });
});

describe('the tax treatment of a client', () => {
  const ids = { account: { tax_id: 'DE123456789' }, client: { tax_id: 'ATU12345678' } };

  test('when it is a reverse charge, then new documents have rate 0, the category and the note in the language of the account', async () => {
    const german = { ...ids.account, locale: 'de-DE', default_tax_rate: 19 };
    const { made, api, client_id } = await studio(german, { ...ids.client, tax_treatment: 'reverse_charge' });
    const note = 'Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge)';
    const group = { rate: 0, category: 'AE', taxable: 1000, tax: 0, note };
    const [, invoice] = await made('invoices', { line_items: [DRAWINGS] });
    expect(invoice).toMatchObject({ tax_rate: 0, total: 1000, taxes: [group] });
    const [, quote] = await made('quotes', { amount: 1000, status: 'Sent' });
    expect(quote).toMatchObject({ tax_rate: 0, taxes: [group] });
    const [, own] = await made('invoices', { amount: 1000, tax_rate: 19 });
    expect(own).toMatchObject({ tax_rate: 19, taxes: [S(19, 1000, 190)] });
    const standard = await api.patch(`/api/v1/invoices/${own['id']}`, { tax_rate: null });
    expect(standard.body.data).toMatchObject({ tax_rate: 0, taxes: [group] });

    const path = `/api/v1/clients/${client_id}`;
    expect((await api.get(path)).body.data.tax_treatment).toBe('reverse_charge');
    const converted = await api.post(`/api/v1/quotes/${quote['id']}/convert`, { accept: true });
    expect(converted.body.data).toMatchObject({ taxes: [group], total: 1000 });
    const schedule = { every: 1, unit: 'month', start_on: addDays(today, 5) };
    expect((await made('recurring-invoices', { line_items: [DRAWINGS], schedule }))[0]).toBe(201);
  });

  test('when a tax id is missing, then a reverse charge is 400 for every document, and nothing is issued without one', async () => {
    const { made, api, client_id } = await studio({}, { tax_treatment: 'reverse_charge' });
    const missing = ['client tax_id is required for reverse charge', 'account tax_id is required for reverse charge'];
    const schedule = { every: 1, unit: 'month', start_on: addDays(today, 5) };
    for (const [resource, body] of [
      ['invoices', { line_items: [DRAWINGS] }],
      ['recurring-invoices', { line_items: [DRAWINGS], schedule }],
    ] as const) {
      const [status, problem] = await made(resource, body);
      expect([status, problem]).toEqual([
        400,
        expect.objectContaining({ error: 'Validation failed', details: { client_id: missing } }),
      ]);
    }
    expect(await made('quotes', { amount: 1 })).toEqual([
      400,
      expect.objectContaining({ error: 'Validation failed', details: missing }),
    ]);
    await api.patch('/api/v1/account', ids.account);
    await api.patch(`/api/v1/clients/${client_id}`, ids.client);
    const [status, draft] = await made('invoices', { line_items: [DRAWINGS] });
    expect(status).toBe(201);
    await api.patch(`/api/v1/clients/${client_id}`, { tax_id: null });
    const issued = await api.patch(`/api/v1/invoices/${draft['id']}`, { status: 'Sent' });
    expect([issued.status, issued.body.details]).toEqual([400, { client_id: [missing[0]] }]);
    const [, plain] = await made('invoices', { amount: 5, tax_rate: 19 });
    const line = await api.patch(`/api/v1/invoices/${plain['id']}`, {
      line_items: [{ ...DRAWINGS, tax_category: 'AE' }],
    });
    expect([line.status, line.body.details]).toEqual([400, { client_id: [missing[0]] }]);
  });

  test('when the client of a draft changes, then its category follows, and its rate stays', async () => {
    const { made, api, client_id } = await studio(ids.account, { ...ids.client, tax_treatment: 'export' });
    const [, draft] = await made('invoices', { amount: 100 });
    expect(draft).toMatchObject({ tax_rate: 0, taxes: [{ category: 'G', note: 'Export, exempt from VAT' }] });
    const other = (await api.post('/api/v1/clients', { name: 'Bob', email: 'bob@example.com' })).body.data.id;
    const path = `/api/v1/invoices/${draft['id']}`;
    const moved = (await api.patch(path, { client_id: other })).body.data;
    expect(moved).toMatchObject({ tax_rate: 0, taxes: [{ rate: 0, category: null, note: null }] });
    const back = (await api.patch(path, { client_id })).body.data;
    expect(back.taxes).toEqual(draft['taxes']);
  });

  test('when the account has an exemption note, then documents at rate 0 are exempt, and the note is frozen when they are sent', async () => {
    const note = 'Kein Ausweis von Umsatzsteuer gemäß § 19 UStG';
    const { made, api } = await studio({ locale: 'de-DE', tax_exemption_note: note });
    const [, draft] = await made('invoices', { amount: 100 });
    expect(draft['taxes']).toEqual([{ rate: 0, category: 'E', taxable: 100, tax: 0, note }]);
    await api.patch('/api/v1/account', { tax_exemption_note: 'Kleinunternehmer' });
    const path = `/api/v1/invoices/${draft['id']}`;
    expect((await api.patch(path, { status: 'Sent' })).body.data.taxes[0].note).toBe('Kleinunternehmer');
    await api.patch('/api/v1/account', { tax_exemption_note: null });
    expect((await api.get(path)).body.data.taxes[0].note).toBe('Kleinunternehmer');
    expect((await made('invoices', { amount: 100 }))[1]['taxes']).toEqual([
      { rate: 0, category: null, taxable: 100, tax: 0, note: null },
    ]);
  });
});

describe('a quote of several rates', () => {
  const offer = { amount: 1050, tax_rate: 19, line_items: [DRAWINGS, BOOK], status: 'Sent' };

  test.each([
    { prices_include_tax: false, deposit: 315, taxes: [S(19, 300, 57), S(7, 15, 1.05)], left: 735 },
    { prices_include_tax: true, deposit: 266.12, taxes: [S(19, 252.1, 47.9), S(7, 14.02, 0.98)], left: 735 },
  ])(
    'when it is billed in parts, prices_include_tax: $prices_include_tax, then each tax group has its share and its remainder',
    async ({ deposit, taxes, left, ...prices }) => {
      const { made, api } = await studio();
      const [, quote] = await made('quotes', { ...offer, ...prices });
      const path = `/api/v1/quotes/${quote['id']}`;
      const convert = async (body: object) =>
        (await api.post(`${path}/convert`, { accept: true, status: 'Sent', ...body })).body.data;
      const first = await convert({ part: 'deposit', percent: 30 });
      expect(first).toMatchObject({ amount: deposit, taxes, ...prices });
      expect((await api.get(path)).body.data).toMatchObject({ left_to_bill: left, acceptance: { changed: false } });
      const last = await convert({ part: 'final' });
      expect((await api.get(path)).body.data.left_to_bill).toBe(0);
      const sums = prices.prices_include_tax ? 'total' : 'amount';
      expect(Math.round((first[sums] + last[sums]) * 100)).toBe(105_000);
      expect(last.taxes.map(({ rate }: { rate: number }) => rate)).toEqual([19, 7]);
      expect(last.line_items.slice(2).map(({ tax_rate }: { tax_rate?: number }) => tax_rate)).toEqual([19, 7]);
    },
  );

  test('when its lines get other taxes after it was accepted, then it counts as changed', async () => {
    const { made, api } = await studio();
    const [, quote] = await made('quotes', { ...offer, amount: 1050 });
    const path = `/api/v1/quotes/${quote['id']}`;
    await api.patch(path, { status: 'Accepted' });
    const locked = await api.patch(path, { prices_include_tax: true });
    expect([locked.status, locked.body.error]).toEqual([409, 'Cannot change prices_include_tax of an accepted quote']);
    expect((await api.patch(path, { tax_rate: 7 })).body.data.acceptance.changed).toBe(true);
    expect((await api.patch(path, { tax_rate: 19 })).body.data.acceptance.changed).toBe(false);
  });
});

test('when a recurring invoice has prices with tax, or time is billed beside lines of another rate, then the invoices have them', async () => {
  const { made, api, client_id } = await studio({ default_tax_rate: 19, hourly_rate: 100 });
  const schedule = { every: 1, unit: 'month', start_on: addDays(today, 5) };
  const content = { line_items: [DRAWINGS, BOOK], prices_include_tax: true, schedule };
  const [status, recurring] = await made('recurring-invoices', content);
  expect([status, recurring]).toEqual([201, expect.objectContaining({ prices_include_tax: true })]);
  const made_now = await api.post(`/api/v1/recurring-invoices/${recurring['id']}/run`);
  expect(made_now.body.data).toMatchObject({ total: 1050, taxes: [S(19, 840.34, 159.66), S(7, 46.73, 3.27)] });
  expect(made_now.body.data.line_items).toMatchObject([{}, { tax_rate: 7, unit: 'piece' }]);
  const project = (await api.post('/api/v1/projects', { client_id, name: 'Mill' })).body.data.id;
  await api.post('/api/v1/time-entries', { project_id: project, hours: 2, date: today });
  const billed = await api.post('/api/v1/invoices/from-time', { client_id, currency: 'EUR', extra_lines: [BOOK] });
  expect(billed.body.data).toMatchObject({ tax_amount: 41.5, taxes: [S(19, 200, 38), S(7, 50, 3.5)] });
  const path = `/api/v1/invoices/${billed.body.data.id}`;
  const released = await api.post(`${path}/time-entries/release`, {});
  expect(released.body.data).toMatchObject({ total: 53.5, taxes: [S(7, 50, 3.5)] });
});
