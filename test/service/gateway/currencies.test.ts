// The currency of a new invoice, quote or payment that names none: the client's, else the account's, else USD.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { create, createClient } from '../../support/records.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const MADE = [
  ['invoices', { due_date: '2099-01-31' }],
  ['quotes', {}],
  ['payments', {}],
] as const;

test.each([
  ['neither the client nor the account has one', {}, {}, 'USD'],
  ['the account has one', { currency: 'CHF' }, {}, 'CHF'],
  ['client and account have one', { currency: 'CHF' }, { currency: 'KWD' }, 'KWD'],
])(
  'when %s, then a new record without currency, and a change back to null, has it',
  async (_when, profile, fields, currency) => {
    const account = await gateway.workspace.account();
    await gateway.patch('/api/v1/account', { tax_rate: 0, ...profile }, account);
    const { id: client_id } = await createClient(gateway, fields, account);

    for (const [resource, body] of MADE) {
      for (const none of [{}, { currency: null }]) {
        const made = await create(gateway, `/api/v1/${resource}`, { client_id, amount: 12, ...body, ...none }, account);
        expect([resource, made.currency]).toEqual([resource, currency]);
      }
      const named = { client_id, amount: 12, ...body, currency: 'EUR' };
      const { id } = await create(gateway, `/api/v1/${resource}`, named, account);
      if (resource === 'payments') continue;
      const changed = await gateway.patch(`/api/v1/${resource}/${id}`, { currency: null }, account);
      expect([resource, changed.status, changed.body.data.currency]).toEqual([resource, 200, currency]);
    }
  },
);

test("when an amount has the decimals of the client's currency, then none is lost", async () => {
  const account = await gateway.workspace.account();
  const { id: client_id } = await createClient(gateway, { currency: 'KWD' }, account);

  for (const [resource, body] of MADE) {
    const made = await create(gateway, `/api/v1/${resource}`, { client_id, amount: 1.234, ...body }, account);
    expect([resource, made.amount]).toEqual([resource, 1.234]);
  }
});

test('when a payment without currency names invoices, then it has theirs', async () => {
  const account = await gateway.workspace.account();
  const { id: client_id } = await createClient(gateway, { currency: 'CHF' }, account);
  const body = { client_id, amount: 50, currency: 'EUR', due_date: '2099-01-31', status: 'Sent' };
  const { id: invoice_id } = await create(gateway, '/api/v1/invoices', body, account);

  const named = { client_id, amount: 10, allocations: [{ invoice_id }] };
  expect((await create(gateway, '/api/v1/payments', named, account)).currency).toBe('EUR');
  expect((await create(gateway, `/api/v1/invoices/${invoice_id}/payments`, {}, account)).currency).toBe('EUR');
});
