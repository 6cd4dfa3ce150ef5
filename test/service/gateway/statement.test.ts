// The statement of account over HTTP: all problems at once, own clients alone, and the same rows as JSON, as CSV and as PDF.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { issueApiKey } from '#libs/models/accounts/api-key.ts';
import { type PrintingGateway, startPrintingGateway } from '../../support/gateway.ts';
import { type AnyRecord, create, createClient, UNKNOWN_ID } from '../../support/records.ts';

let gateway: PrintingGateway;
beforeAll(async () => {
  gateway = await startPrintingGateway();
});
afterAll(() => gateway.close());

const today = dayIn('UTC');
const daysAgo = (days: number) => addDays(today, -days);
const at = (query: Record<string, string>) => `/api/v1/reports/statement?${new URLSearchParams(query)}`;

/** A client that owes 119.00 since twenty days, and paid 100.00 of it ten days ago. */
async function owing(invoice: object = {}, payment: object = {}) {
  const { id: client_id } = await createClient(gateway);
  const dates = { issue_date: daysAgo(20), due_date: daysAgo(6) };
  const { id, invoice_number } = await create(gateway, '/api/v1/invoices', {
    ...{ client_id, amount: 100, tax_rate: 19, currency: 'EUR', status: 'Sent', ...dates },
    ...invoice,
  });
  const paid = await create(gateway, `/api/v1/invoices/${id}/payments`, {
    ...{ amount: 100, date: daysAgo(10), method: 'bank_transfer', reference: 'RF18' },
    ...payment,
  });
  return { client_id, invoice: { id, number: invoice_number }, payment: { id: paid.id, number: paid.payment_number } };
}

const csvOf = (query: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(gateway.url + at(query), {
    headers: { Authorization: `Bearer ${gateway.account.key}`, Accept: 'text/csv', ...headers },
  });

describe('a statement', () => {
  test('when it is read, then it has every movement between the balances of its days, and what is due by age', async () => {
    const { client_id, invoice, payment } = await owing({ order_reference: 'PO-77' });

    const { status, body } = await gateway.get(at({ client_id, from: daysAgo(15), to: today }));

    expect([status, body.data]).toEqual([
      200,
      {
        client: expect.objectContaining({ id: client_id }),
        from: daysAgo(15),
        to: today,
        statements: [
          {
            currency: 'EUR',
            opening_balance: 119,
            debits: 0,
            credits: 100,
            closing_balance: 19,
            due: 19,
            overdue: 19,
            ageing: { not_due: 0, d1_30: 19, d31_60: 0, d61_90: 0, d91_plus: 0 },
            credit: 0,
            rows: [
              {
                date: daysAgo(10),
                kind: 'payment',
                document: { type: 'payment', ...payment },
                text: 'RF18',
                debit: 0,
                credit: 100,
                balance: 19,
              },
            ],
          },
        ],
      },
    ]);
    const whole = await gateway.get(at({ client_id, from: daysAgo(20), to: daysAgo(11) }));
    expect(whole.body.data.statements[0]).toMatchObject({ opening_balance: 0, closing_balance: 119, overdue: 0 });
    expect(whole.body.data.statements[0].rows).toMatchObject([
      { kind: 'invoice', document: { type: 'invoice', ...invoice }, text: 'PO-77', debit: 119, balance: 119 },
    ]);
  });

  test('when something else happened, then it has a kind of its own', async () => {
    const { client_id, invoice, payment } = await owing();
    const post = (path: string, body: object) => gateway.post(`/api/v1/${path}`, body);
    await post(`invoices/${invoice.id}/write-off`, { amount: 9, reason: 'Insolvent' });
    await gateway.delete(`/api/v1/invoices/${invoice.id}/write-off`);
    await post(`invoices/${invoice.id}/credit-notes`, { reason: 'goodwill', amount: 10 });
    await post(`payments/${payment.id}/refunds`, { amount: 30, invoice_id: invoice.id, reference: 'RF19' });
    const second = await create(gateway, '/api/v1/payments', { client_id, amount: 5, currency: 'EUR', method: 'cash' });
    await post(`payments/${second.id}/void`, { reason: 'Entered twice' });
    await gateway.patch(`/api/v1/invoices/${invoice.id}`, { status: 'Cancelled' });

    const { body } = await gateway.get(at({ client_id, from: today, to: today }));

    const [{ rows, ...sums }] = body.data.statements;
    expect(rows.map(({ kind, debit, credit }: never) => [kind, debit, credit])).toEqual([
      ['write_off', 0, 9],
      ['write_off_reversal', 9, 0],
      ['cancellation', 0, 107.1],
      ['refund', 30, 0],
      ['credit_note', 0, 11.9],
      ['payment', 0, 5],
      ['void', 5, 0],
    ]);
    expect(rows[4]).toMatchObject({ text: invoice.number, document: { type: 'credit_note' } });
    expect(sums).toMatchObject({ opening_balance: 19, closing_balance: -70, due: 0, credit: 70 });
    // The reason of a write-off is for the account only.
    expect(JSON.stringify(body)).not.toContain('Insolvent');
  });

  test('when a currency is named, then it is that one alone', async () => {
    const { client_id } = await owing();
    await create(gateway, '/api/v1/payments', { client_id, amount: 5, currency: 'USD', method: 'cash' });
    const codes = async (more: object) => {
      const { body } = await gateway.get(at({ client_id, from: today, to: today, ...more }));
      return body.data.statements.map(({ currency }: { currency: string }) => currency);
    };
    expect([await codes({}), await codes({ currency: 'usd' }), await codes({ currency: 'CHF' })]).toEqual([
      ['EUR', 'USD'],
      ['USD'],
      [],
    ]);
  });

  test('when several things are wrong, then all of them are said at once', async () => {
    const { status, body } = await gateway.get(at({ from: '2031-02-03', to: '2031-02-02', currency: 'EURO', x: '1' }));
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({
        error: 'Validation failed',
        details: {
          x: ['x is not known to this operation'],
          client_id: ['client_id is required'],
          from: ['from must not be after to'],
          to: [`to must not be after ${today}`],
          currency: ['currency must be a 3-letter ISO 4217 currency code'],
        },
      }),
    ]);
    const none = await gateway.get('/api/v1/reports/statement');
    expect(Object.keys(none.body.details)).toEqual(['client_id', 'from', 'to']);
    const noDays = await gateway.get(at({ client_id: 'x', from: '2026-02-30', to: '' }));
    expect([noDays.status, Object.keys(noDays.body.details)]).toEqual([400, ['client_id', 'from', 'to']]);
  });

  test("when it ends today, then that is the day on the account's calendar", async () => {
    for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      const account = await gateway.workspace.account({ timeZone: zone });
      const { id: client_id } = await createClient(gateway, {}, account);
      const own = dayIn(zone);
      const ending = async (to: string) => (await gateway.get(at({ client_id, from: own, to }), account)).status;
      expect([zone, await ending(own), await ending(addDays(own, 1))]).toEqual([zone, 200, 400]);
    }
  });

  test("when the client is another account's or unknown, then the answers are the same, and a client without movements has none", async () => {
    const other = await gateway.workspace.account();
    const { id: foreign } = await createClient(gateway, {}, other);
    const { id: own } = await createClient(gateway);
    const days = { from: daysAgo(365), to: today };
    for (const client_id of [foreign, UNKNOWN_ID]) {
      const { status, body } = await gateway.get(at({ client_id, ...days }));
      expect([status, body]).toEqual([404, expect.objectContaining({ error: 'Client not found or access denied' })]);
    }
    expect((await gateway.get(at({ client_id: own, ...days }))).body.data.statements).toEqual([]);
  });
});

describe('as CSV', () => {
  test('when the caller asks for it, then it is a file with the rows between the balances', async () => {
    const { client_id, invoice, payment } = await owing({ order_reference: 'PO "7", north' });
    const reply = await csvOf({ client_id, from: daysAgo(20), to: today });

    expect([reply.status, reply.headers.get('content-type'), reply.headers.get('vary')]).toEqual([
      200,
      'text/csv; charset=utf-8',
      expect.stringContaining('Accept'),
    ]);
    expect(reply.headers.get('content-disposition')).toBe(
      `attachment; filename="statement-${daysAgo(20)}-${today}.csv"`,
    );
    expect(await reply.text()).toBe(
      [
        'currency,date,kind,document_type,document_number,document_id,text,debit,credit,balance',
        `EUR,${daysAgo(20)},opening_balance,,,,,,,0`,
        `EUR,${daysAgo(20)},invoice,invoice,${invoice.number},${invoice.id},"PO ""7"", north",119,0,119`,
        `EUR,${daysAgo(10)},payment,payment,${payment.number},${payment.id},RF18,0,100,19`,
        `EUR,${today},closing_balance,,,,,,,19`,
        '',
      ].join('\r\n'),
    );
  });

  test.each(['=HYPERLINK("http://evil.example")', '+49 431', '-1+1', '@SUM(A1)', '＝1+1'])(
    'when a text is %s, then a spreadsheet shows it as text, and a negative balance stays a number',
    async (reference) => {
      const { client_id } = await owing({}, { reference, amount: 150 });
      const rows = (await (await csvOf({ client_id, from: daysAgo(10), to: today })).text()).split('\r\n');
      expect(rows[2]).toContain(`'${reference.slice(0, 1)}`);
      expect([rows[2]?.endsWith(',0,150,-31'), rows[3]?.endsWith(',-31')]).toEqual([true, true]);
    },
  );

  test('when a text has a formula behind a semicolon, also in quotes, then a spreadsheet that splits cells there shows it as text', async () => {
    const { client_id } = await owing({}, { reference: 'x;=1+1;y; -2;"@z', amount: 100 });
    const rows = (await (await csvOf({ client_id, from: daysAgo(10), to: today })).text()).split('\r\n');
    expect(rows[2]).toContain(`,"x;'=1+1;y;' -2;'""@z",0,100,19`);
  });

  test('when the client has no movements, then the file has its head alone', async () => {
    const { id: client_id } = await createClient(gateway);
    expect(await (await csvOf({ client_id, from: today, to: today })).text()).toMatch(/^currency,[\w,]+balance\r\n$/);
  });

  test.each([
    ['*/*', 'application/json'],
    ['application/json, text/csv', 'application/json'],
    ['text/csv;q=0.5, application/json', 'application/json'],
    ['text/html', 'application/json'],
    ['text/csv, application/json;q=0.9', 'text/csv'],
    ['text/*', 'text/csv'],
  ])('when the caller accepts %s, then it gets %s', async (Accept, type) => {
    const { id: client_id } = await createClient(gateway);
    const { headers } = await csvOf({ client_id, from: today, to: today }, { Accept });
    expect(headers.get('content-type')).toMatch(new RegExp(`^${type.replace('/', '\\/')}`));
  });

  test('when the caller has the file, then 304; when something moved, then the new one; and a problem is JSON', async () => {
    const { client_id } = await owing();
    const query = { client_id, from: today, to: today };
    const tag = String((await csvOf(query)).headers.get('etag'));
    expect((await csvOf(query, { 'If-None-Match': tag })).status).toBe(304);
    await create(gateway, '/api/v1/payments', { client_id, amount: 5, currency: 'EUR', method: 'cash' });
    expect((await csvOf(query, { 'If-None-Match': tag })).status).toBe(200);
    const wrong = await csvOf({ client_id });
    expect([wrong.status, wrong.headers.get('content-type')]).toEqual([400, 'application/json; charset=utf-8']);
  });
});

describe('as PDF', () => {
  const pdfAt = (query: Record<string, string>) => `/api/v1/reports/statement/pdf?${new URLSearchParams(query)}`;

  test('when it is printed, then each amount is that of the JSON, between issuer and client as they are now', async () => {
    const { client_id, payment } = await owing({ order_reference: 'PO-77' });
    await create(gateway, '/api/v1/payments', { client_id, amount: 500, currency: 'JPY', method: 'cash' });
    await gateway.patch(`/api/v1/clients/${client_id}`, { company_name: 'Engines Ltd' });
    const query = { client_id, from: daysAgo(15), to: today };

    const { status, headers, body } = await gateway.get(
      pdfAt({ ...query, locale: 'de-DE', size: 'letter', style: 'modern' }),
    );

    expect([status, headers.get('content-type'), headers.get('content-disposition'), String(body)]).toEqual([
      200,
      'application/pdf',
      `attachment; filename="statement-${daysAgo(15)}-${today}.pdf"`,
      expect.stringMatching(/^%PDF/),
    ]);
    const printed = gateway.printed();
    expect(printed).toMatchObject({
      clientCompany: 'Engines Ltd',
      locale: 'de-DE',
      pageSize: 'letter',
      fontStyle: 'modern',
    });
    const { statements } = (await gateway.get(at(query))).body.data;
    expect(printed?.statement).toEqual({
      from: daysAgo(15),
      to: today,
      statements: statements.map(
        ({ opening_balance, closing_balance, overdue: _overdue, rows, ...one }: AnyRecord) => ({
          ...one,
          opening: opening_balance,
          closing: closing_balance,
          rows: rows.map(({ date, kind, document, text, debit, credit, balance }: AnyRecord) => ({
            date,
            kind,
            number: document.number,
            ...(text ? { text } : {}),
            amount: debit - credit,
            balance,
          })),
        }),
      ),
    });
    expect(printed?.statement?.statements[0]?.rows).toMatchObject([
      { number: payment.number, text: 'RF18', amount: -100 },
    ]);
    await gateway.get(pdfAt({ ...query, currency: 'jpy' }));
    expect(gateway.printed()?.statement?.statements.map(({ currency }) => currency)).toEqual(['JPY']);
  });

  test('when the caller has it, then 304 without printing; when something moved, then it is printed anew', async () => {
    const { client_id } = await owing();
    const path = pdfAt({ client_id, from: today, to: today });
    const tag = String((await gateway.get(path)).headers.get('etag'));
    const known = { headers: { 'If-None-Match': tag } };
    const before = gateway.printed();
    const head = await gateway.call('HEAD', path);
    expect([(await gateway.get(path, known)).status, head.status, head.headers.get('etag')]).toEqual([304, 200, tag]);
    expect(gateway.printed()).toBe(before);
    await create(gateway, '/api/v1/payments', { client_id, amount: 5, currency: 'EUR', method: 'cash' });
    expect((await gateway.get(path, known)).status).toBe(200);
    expect(gateway.printed()).not.toBe(before);
  });

  test('when something is wrong, then the problems are those of the JSON, with those of the look', async () => {
    const { status, body } = await gateway.get(
      pdfAt({ from: '2031-02-03', to: '2031-02-02', style: 'x', locale: 'd_' }),
    );
    expect([status, body.error, Object.keys(body.details)]).toEqual([
      400,
      'Validation failed',
      ['client_id', 'from', 'to', 'style', 'locale'],
    ]);
    const days = { from: today, to: today };
    const { id: foreign } = await createClient(gateway, {}, await gateway.workspace.account());
    for (const client_id of [foreign, UNKNOWN_ID]) {
      const missing = await gateway.get(pdfAt({ client_id, ...days }));
      expect([missing.status, missing.body.error]).toEqual([404, 'Client not found or access denied']);
    }
    const { id: client_id } = await createClient(gateway);
    const scopes = ['clients:read', 'invoices:read', 'payments:read'];
    const { key } = await issueApiKey({ accountId: gateway.account.id, name: 'reader', scopes });
    const forbidden = await gateway.get(pdfAt({ client_id, ...days }), { key });
    expect([forbidden.status, forbidden.body.error]).toEqual([
      403,
      'Forbidden: API key lacks the credit-notes:read scope',
    ]);
  });
});
