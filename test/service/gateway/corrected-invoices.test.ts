// Corrected invoices: they name the invoice that they take the place of, on paper and in the e-invoice, and both are never due.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { client as buyer, issuer } from '../../e-invoices/cases.ts';
import { callerOf, type PrintingGateway, startPrintingGateway, verbsOf } from '../../support/gateway.ts';
import { UNKNOWN_ID } from '../../support/records.ts';

let gateway: PrintingGateway;
beforeAll(async () => {
  gateway = await startPrintingGateway();
});
afterAll(() => gateway.close());

async function open() {
  const { key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const { locale: _locale, ...profile } = issuer;
  await api.patch('/api/v1/account', { ...profile, cancel_with_credit_note: true });
  const { id: _id, ...fields } = buyer;
  const client_id: string = (await api.post('/api/v1/clients', fields)).body.data.id;
  const line_items = [{ description: 'Design', quantity: 12, rate: 95 }];
  const make = (own: object = {}) =>
    api.post('/api/v1/invoices', {
      client_id,
      due_date: '2099-12-31',
      currency: 'EUR',
      tax_rate: 19,
      line_items,
      status: 'Sent',
      ...own,
    });
  const idOf = async (own: object = {}): Promise<string> => (await make(own)).body.data.id;
  const cancelled = async () => {
    const id = await idOf();
    expect((await api.patch(`/api/v1/invoices/${id}`, { status: 'Cancelled' })).status).toBe(200);
    return id;
  };
  return { api, client_id, fields, make, idOf, cancelled };
}

test('when an invoice corrects a cancelled one, then page and e-invoice name it, and the type is 384', async () => {
  const { api, make, cancelled } = await open();
  const corrects = await cancelled();
  const { status, body } = await make({ corrects });
  expect([status, body.data.corrects, body.data.corrects_number]).toEqual([201, corrects, 'INV-0001']);

  const xml = String((await api.get(`/api/v1/invoices/${body.data.id}/e-invoice?format=xrechnung-ubl`)).body);
  expect(xml).toContain('<cbc:InvoiceTypeCode>384</cbc:InvoiceTypeCode>');
  expect(xml.replaceAll(/\s+/g, '')).toContain('<cac:InvoiceDocumentReference><cbc:ID>INV-0001</cbc:ID>');
  await api.get(`/api/v1/invoices/${body.data.id}/pdf`);
  expect(gateway.printed()).toMatchObject({ corrects: 'INV-0001' });
});

test('when an invoice was credited in whole, then it can be corrected as well', async () => {
  const { api, make, idOf } = await open();
  const corrects = await idOf();
  const credit = await api.post(`/api/v1/invoices/${corrects}/credit-notes`, { reason: 'correction' });
  expect([credit.status, (await make({ corrects })).status]).toEqual([201, 201]);
});

test('when an invoice was written off, which can be taken back, then it cannot be corrected', async () => {
  const { api, make, idOf } = await open();
  const corrects = await idOf();
  await api.post(`/api/v1/invoices/${corrects}/write-off`, { reason: 'Insolvent' });
  expect((await api.get(`/api/v1/invoices/${corrects}`)).body.data.status).toBe('Cancelled');
  expect((await make({ corrects })).status).toBe(400);
});

test('when the named invoice stands, is a draft, is of another client or of another account, then it cannot be corrected', async () => {
  const { api, make, idOf, fields } = await open();
  const other = await api.post('/api/v1/clients', { ...fields, email: 'other@example.com' });
  const foreign = await (await open()).cancelled();
  const draft = await idOf({ status: 'Draft' });
  expect((await api.patch(`/api/v1/invoices/${draft}`, { status: 'Cancelled' })).status).toBeLessThan(500);
  const others = await idOf({ client_id: other.body.data.id });
  const replies = [];
  for (const corrects of [await idOf(), draft, others, foreign, UNKNOWN_ID, 'x'])
    replies.push(await make({ corrects }));

  expect(replies.map(({ status, body }) => [status, body.details?.corrects?.[0] ?? body.error])).toEqual([
    [400, expect.stringContaining('must be an invoice that was issued, and cancelled or credited in whole')],
    [400, expect.stringContaining('must be an invoice that was issued, and cancelled or credited in whole')],
    [400, 'corrects must be an invoice of the same client'],
    [404, 'Invoice not found or access denied'],
    [404, 'Invoice not found or access denied'],
    [400, 'corrects must be a UUID'],
  ]);
});

test('when a draft is changed, then its correction can be set and taken back, follows its client, and stays once it is sent', async () => {
  const { api, client_id, idOf, cancelled, fields } = await open();
  const corrects = await cancelled();
  const id = await idOf({ status: 'Draft' });
  const change = (body: object) => api.patch(`/api/v1/invoices/${id}`, body);
  expect((await change({ corrects })).body.data).toMatchObject({ corrects, corrects_number: 'INV-0001' });
  const other = (await api.post('/api/v1/clients', { ...fields, email: 'other@example.com' })).body.data.id;
  expect((await change({ client_id: other })).status).toBe(400);
  expect((await change({ client_id: other, corrects: null })).body.data).toMatchObject({
    corrects: null,
    corrects_number: null,
  });
  expect((await change({ client_id, corrects, status: 'Sent' })).body.data.corrects).toBe(corrects);
  expect((await change({ corrects: null })).status).toBe(409);
});
