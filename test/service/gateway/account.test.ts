// The account of a key over HTTP.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { answerOf } from '../../support/records.ts';

const path = '/api/v1/account';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

describe('GET /api/v1/account', () => {
  test('when nothing was set, then the response has the defaults', async () => {
    const account = await gateway.workspace.account({ name: 'Studio' });

    expect((await gateway.get(path, account)).body.data).toEqual({
      id: account.id,
      name: 'Studio',
      mode: 'live',
      email: null,
      company: null,
      address: null,
      tax_id: null,
      bank_details: null,
      legal_name: null,
      legal_id: null,
      vat_id: null,
      tax_number: null,
      legal_note: null,
      electronic_address: null,
      postal_address: null,
      phone: null,
      payment_options: null,
      logo_url: null,
      brand_color: null,
      default_tax_rate: null,
      allow_backdating: false,
      number_formats: {
        invoice: { prefix: 'INV-', padding: 4, start: 1, restart: 'never' },
        credit_note: { prefix: 'CRN-', padding: 4, start: 1, restart: 'never' },
        payment: { prefix: 'PAY-', padding: 4, start: 1, restart: 'never' },
        quote: { prefix: 'QUO-', padding: 4, start: 1, restart: 'never' },
      },
      time_zone: 'UTC',
      locale: 'en-US',
      max_entry_hours: 24,
      hourly_rate: null,
      member_rates: null,
      time_locked_before: null,
      currency: null,
      payment_days: 30,
      rounding: null,
      settle_tolerance: 0,
      total_rounding: null,
      tax_exemption_note: null,
      cancel_with_credit_note: false,
      strict_invoices: false,
      require_client_email: true,
      mail: { from_name: null, reply_to: null, bcc: null },
      receipts: false,
      reminders: null,
      remind_at: '09:00',
      e_invoice_format: null,
      e_invoice_pdf: false,
      early_payment_discounts: null,
      project_statuses: ['In Progress', 'Awaiting Approval', 'Complete'],
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
  });
});

describe('PATCH /api/v1/account', () => {
  const profile = {
    name: 'Studio Ada',
    email: 'studio@example.com',
    company: 'Ada Ltd',
    address: '1 Engine Street\nLondon',
    tax_id: 'GB123',
    bank_details: 'IBAN GB00',
    logo_url: 'https://example.com/logo.png',
    brand_color: '#1a2b3c',
    default_tax_rate: 20,
    time_zone: 'Europe/London',
    locale: 'en-GB',
    max_entry_hours: 36,
    project_statuses: ['Lead', 'Won', 'Lost'],
  };

  test('when fields are given, then they are stored and the next read returns them', async () => {
    const account = await gateway.workspace.account();
    const reply = await gateway.patch(path, profile, account);

    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ success: true, data: profile });
    expect((await gateway.get(path, account)).body.data).toEqual(reply.body.data);
    expect((await gateway.get(path)).body.data.name).toBe('Test');
  });

  test('when optional fields are cleared, then they are absent', async () => {
    const account = await gateway.workspace.account();
    await gateway.patch(path, profile, account);
    const reply = await gateway.patch(
      path,
      { email: null, company: '', default_tax_rate: null, project_statuses: null },
      account,
    );

    expect(reply.body.data).toMatchObject({
      name: profile.name,
      email: null,
      company: null,
      default_tax_rate: null,
      project_statuses: ['In Progress', 'Awaiting Approval', 'Complete'],
    });
  });

  test.each([
    { name: '' },
    { name: null },
    { email: 'nowhere' },
    { logo_url: 'ftp://example.com/x.png' },
    { logo_url: 'data:text/html;base64,AAAA' },
    { brand_color: 'red' },
    { default_tax_rate: 101 },
    { default_tax_rate: '20' },
    { time_zone: 'Mars/Olympus' },
    { time_zone: '+02:00' },
    { locale: `en-x${'-12345678'.repeat(12)}` },
    { project_statuses: [] },
    { project_statuses: ['A', 'A'] },
    { project_statuses: ['Done', 'done'] },
    { project_statuses: ['Done', ' Done'] },
    { project_statuses: ['Kl\u00e4rung', 'KLA\u0308RUNG'] },
    { max_entry_hours: 0 },
    { max_entry_hours: 10_001 },
    { max_entry_hours: 'a day' },
    { project_statuses: [''] },
  ])('when it is %j, then 400 by field and nothing changes', async (body) => {
    const before = (await gateway.get(path)).body.data;
    const reply = await gateway.patch(path, body);

    expect([reply.status, reply.body.error]).toEqual([400, 'Validation failed']);
    expect(Object.keys(reply.body.details)[0]).toMatch(new RegExp(`^${Object.keys(body)[0]}`));
    expect((await gateway.get(path)).body.data).toEqual(before);
  });

  const zurich = { line1: 'Seestrasse 7', postal_code: '8002', city: 'Zürich', country: 'CH' };

  test('when legal fields are invalid, then 400 names all of them at once, and nothing changes', async () => {
    const before = (await gateway.get(path)).body.data;
    const reply = await gateway.patch(path, {
      vat_id: 'DE123456789',
      legal_id: { value: '303265046', scheme: '0002' },
      legal_note: 'x'.repeat(501),
      electronic_address: { scheme: 'EM', value: 'nowhere' },
      postal_address: { city: 'Kiel', country: 'XX' },
      payment_options: [
        { type: 'bank_transfer', iban: 'DE88370400440532013000', bic: 'COBA' },
        { type: 'bank_transfer' },
        { type: 'bank_transfer', text: 'Account 1', bic: 'COBADEFF' },
        { type: 'cash', text: 'at the desk' },
        {
          type: 'swiss_qr',
          iban: 'CH4431999123000889012',
          address: { line1: 'x'.repeat(71), city: '東京', country: 'CH' },
        },
        { type: 'swiss_qr', holder: 'Ada', qr_iban: 'CH9300762011623852957', vpa: 'a@b', address: zurich },
        { type: 'swiss_qr', holder: 'Ada', iban: 'DE89370400440532013000', address: zurich },
        {
          type: 'swiss_qr',
          holder: 'Ada',
          iban: 'CH9300762011623852957',
          qr_iban: 'CH4431999123000889012',
          address: zurich,
        },
        { type: 'upi', vpa: 'studio', label: 'UPI' },
        { type: 'link', label: '', url: 'http://{number}.example/{total}' },
      ],
    });

    expect([reply.status, reply.body]).toMatchObject([
      400,
      {
        error: 'Validation failed',
        details: {
          vat_id: ['vat_id is no VAT id: its check digits are wrong'],
          legal_id: ['legal_id.value is no number of scheme 0002'],
          legal_note: ['legal_note length must be less than or equal to 500 characters long'],
          electronic_address: ['electronic_address.value must be an e-mail address'],
          'postal_address.country': ['postal_address.country must be a 2-letter ISO 3166-1 country code'],
          'payment_options.0.iban': ['payment_options[0].iban is no IBAN: form or check digits are wrong'],
          'payment_options.0.bic': ['payment_options[0].bic is no BIC'],
          'payment_options.1': ['payment_options[1] must have either iban or text'],
          'payment_options.2': ['payment_options[2].bic must stand beside an iban'],
          'payment_options.3.type': ['payment_options[3].type must be one of bank_transfer, swiss_qr, upi, link'],
          'payment_options.4.holder': ['payment_options[4].holder is required'],
          'payment_options.4.iban': ['payment_options[4].iban is a QR-IBAN: it belongs in qr_iban'],
          'payment_options.4.address.line1': [expect.stringContaining('70 characters')],
          'payment_options.4.address.postal_code': ['payment_options[4].address.postal_code is required'],
          'payment_options.4.address.city': [expect.stringContaining('only letters that a QR-bill can carry')],
          'payment_options.5.qr_iban': [expect.stringContaining('payment_options[5].qr_iban is no QR-IBAN')],
          'payment_options.5.vpa': ['payment_options[5].vpa is not allowed'],
          'payment_options.6.iban': ['payment_options[6].iban must be an IBAN of Switzerland or Liechtenstein'],
          'payment_options.7.iban': ['payment_options[7].iban is not allowed'],
          'payment_options.8.vpa': ['payment_options[8].vpa must be a UPI address such as studio@bank'],
          'payment_options.8.name': ['payment_options[8].name is required'],
          'payment_options.8.label': ['payment_options[8].label is not allowed'],
          'payment_options.9.label': ['payment_options[9].label is required'],
          'payment_options.9.url': [
            'payment_options[9].url must not contain total: there is no such value in a link',
            expect.stringContaining('payment_options[9].url must be an https URL'),
          ],
        },
      },
    ]);
    expect((await gateway.get(path)).body.data).toEqual(before);
  });

  test('when numbers contain spaces and lower-case letters, then they are stored in their standard form', async () => {
    const account = await gateway.workspace.account();
    const reply = await gateway.patch(
      path,
      {
        vat_id: 'de 136 695 976',
        legal_id: { value: '303 265 045', scheme: '0002' },
        postal_address: { line1: '1 rue de la Paix', line2: '', region: null, country: 'fr' },
        payment_options: [{ type: 'bank_transfer', iban: 'de89 3704 0044 0532 0130 00', bic: 'cobadeff', holder: '' }],
      },
      account,
    );
    expect(reply.body.data).toMatchObject({
      vat_id: 'DE136695976',
      legal_id: { value: '303265045', scheme: '0002' },
      postal_address: { line1: '1 rue de la Paix', line2: null, region: null, country: 'FR' },
      payment_options: [{ iban: 'DE89370400440532013000', bic: 'COBADEFF', holder: null }],
    });
    // Sending the values back as they were read changes nothing.
    const { vat_id, legal_id, postal_address, payment_options, updated_at } = reply.body.data;
    const again = await gateway.patch(path, { vat_id, legal_id, postal_address, payment_options }, account);
    expect([again.status, again.body.data.updated_at]).toEqual([200, updated_at]);
  });

  test('when there is an option of every type, then it is kept in its standard form, and can be sent back as it was read', async () => {
    const account = await gateway.workspace.account();
    const address = { ...zurich, country: 'ch' };
    const options = [
      { type: 'swiss_qr', holder: 'Ada', iban: 'ch93 0076 2011 6238 5295 7', address },
      { type: 'swiss_qr', holder: 'Ada', qr_iban: 'CH44 3199 9123 0008 8901 2', address: { ...address, line1: '' } },
      { type: 'upi', vpa: 'studio@okbank', name: 'Ada' },
      { type: 'link', label: 'PayPal', url: 'https://paypal.me/ada/{amount}{currency}?n={number}&r={reference}' },
    ];
    const reply = await gateway.patch(path, { payment_options: options }, account);
    expect(reply.body.data.payment_options).toMatchObject([
      { ...options[0], iban: 'CH9300762011623852957', qr_iban: null, address: zurich, text: null },
      { qr_iban: 'CH4431999123000889012', iban: null, address: { ...zurich, line1: null } },
      { ...options[2], holder: null, label: null },
      { ...options[3], vpa: null, address: null },
    ]);
    const { payment_options, updated_at } = reply.body.data;
    const again = await gateway.patch(path, { payment_options }, account);
    expect([again.status, again.body.data.updated_at]).toEqual([200, updated_at]);
  });

  test.each([
    ['europe/BERLIN', 'Europe/Berlin'],
    ['utc', 'UTC'],
    ['Asia/Kolkata', 'Asia/Kolkata'],
    ['Etc/GMT+12', 'Etc/GMT+12'],
  ])('when the zone is written %s, then it is kept as %s', async (time_zone, kept) => {
    const account = await gateway.workspace.account();

    expect((await gateway.patch(path, { time_zone }, account)).body.data.time_zone).toBe(kept);
  });

  test('when a logo is inlined or a time zone has an old name, then they are accepted', async () => {
    const account = await gateway.workspace.account();
    const body = {
      logo_url: 'data:image/png;charset=utf-8;base64,iVBORw0KGgo=',
      time_zone: 'US/Eastern',
      brand_color: '#ABC',
    };

    expect((await gateway.patch(path, body, account)).body.data).toMatchObject(body);
  });

  test('when no known field is given or If-Match is stale, then the request is rejected', async () => {
    const account = await gateway.workspace.account();
    const headers = { 'If-Match': String((await gateway.get(path, account)).headers.get('ETag')) };

    expect(answerOf(await gateway.patch(path, { id: 'x' }, account))).toEqual([
      400,
      expect.objectContaining({ error: 'No valid fields to update' }),
    ]);
    expect((await gateway.patch(path, { name: 'One' }, { ...account, headers })).status).toBe(200);
    expect((await gateway.patch(path, { name: 'Two' }, { ...account, headers })).status).toBe(412);
  });

  test('when the key has only read scopes, then 403', async () => {
    const account = await gateway.workspace.account({ scopes: ['account:read'] });

    expect((await gateway.get(path, account)).status).toBe(200);
    expect((await gateway.patch(path, { name: 'x' }, account)).status).toBe(403);
  });
});
