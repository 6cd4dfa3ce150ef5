// A quote is converted to an invoice once, in full or in parts whose net amounts add up to it.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

interface Offer {
  api: Verbs;
  path: string;
  convert(body?: object, query?: string): Promise<[number, Record<string, never> & { error?: string }]>;
}

/** A quote in a new account. */
async function offer(fields: object = {}): Promise<Offer> {
  const { key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const { id: client_id } = (await api.post('/api/v1/clients', { name: 'Ada', email: 'ada@example.com' })).body.data;
  const quote = { client_id, amount: 1000, currency: 'EUR', tax_rate: 19, description: 'Mill', ...fields };
  const path = `/api/v1/quotes/${(await api.post('/api/v1/quotes', quote)).body.data.id}`;
  const convert: Offer['convert'] = async (body = {}, query = '') => {
    const reply = await api.post(`${path}/convert${query}`, body);
    return [reply.status, reply.status < 300 ? reply.body.data : reply.body];
  };
  return { api, path, convert };
}

const LINES = [{ description: 'Drawings', quantity: 12, rate: 95 }];

describe('a quote in full', () => {
  test('when eight callers convert one quote concurrently, then there is one invoice, and seven 409 that name it', async () => {
    const { convert, api, path } = await offer();
    await api.patch(path, { status: 'Accepted' });
    const responses = await Promise.all(Array.from({ length: 8 }, () => convert()));
    const made = responses.filter(([status]) => status === 201);
    expect(made).toHaveLength(1);
    expect(made[0]?.[1]).toMatchObject({
      invoice_number: 'INV-0001',
      status: 'Draft',
      amount: 1000,
      quote_part: 'full',
    });
    for (const [status, body] of responses.filter(([one]) => one !== 201)) {
      expect([status, body]).toEqual([
        409,
        expect.objectContaining({ error: 'Quote was already converted to INV-0001' }),
      ]);
    }
    expect((await api.get('/api/v1/invoices')).body.pagination.total).toBe(1);
    expect((await api.get(path)).body.data).toMatchObject({
      left_to_bill: 0,
      invoices: [{ invoice_number: 'INV-0001', part: 'full', amount: 1000, status: 'Draft' }],
      acceptance: { by: 'owner', changed: false, withdrawn_at: null },
    });
    const types = (await api.get('/api/v1/events?limit=100')).body.data.map(({ type }: { type: string }) => type);
    expect(types.slice(-3)).toEqual(['invoice.created', 'quote.updated', 'quote.converted']);
  });

  test('when the lines sum to more than the quoted amount, then the invoice bills exactly the quoted amount', async () => {
    const { convert } = await offer({ amount: 1000, line_items: LINES });
    expect(await convert({ accept: true })).toMatchObject([
      201,
      {
        amount: 1000,
        total: 1190,
        line_items: [
          { description: 'Drawings', rate: '95' },
          { description: 'Adjustment to the quoted amount', rate: '-140' },
        ],
      },
    ]);
  });

  test('when the adjustment makes one line too many, then nothing is created, and a progress invoice bills it all', async () => {
    const line_items = Array.from({ length: 500 }, () => ({ description: 'Drawing', quantity: 1, rate: 1 }));
    const { convert, api, path } = await offer({ amount: 501, line_items });
    const error = 'Too many lines (at most 500): bill what is left as a progress invoice';
    expect(await convert({ accept: true })).toEqual([409, expect.objectContaining({ error })]);
    expect((await api.get(path)).body.data).toMatchObject({ status: 'Draft', invoices: [] });
    const progress = await convert({ part: 'progress', amount: 501, accept: true });
    expect(progress).toMatchObject([201, { invoice_number: 'INV-0001', amount: 501 }]);
  });

  test('when the quote is declined or not yet accepted, or it is a dry run, then nothing is created', async () => {
    const { convert, api, path } = await offer();
    expect(await convert()).toEqual([
      409,
      expect.objectContaining({ error: 'Cannot convert a quote that is not accepted' }),
    ]);
    await api.patch(path, { status: 'Declined' });
    expect(await convert({ accept: true })).toEqual([
      409,
      expect.objectContaining({ error: 'Cannot convert a declined quote' }),
    ]);
    await api.patch(path, { status: 'Sent', expires_at: '2020-01-01' });
    expect(await convert({ accept: true }, '?dry_run=true')).toMatchObject([200, { id: null, invoice_number: null }]);
    expect((await api.get(path)).body.data).toMatchObject({ status: 'Expired', invoices: [], acceptance: null });
    // The owner may convert an expired quote.
    expect(await convert({ accept: true })).toMatchObject([201, { quote: { quote_number: 'QUO-0001' } }]);
    expect((await api.get(path)).body.data).toMatchObject({ status: 'Accepted', acceptance: { by: 'owner' } });
  });

  test('when the amount was changed after the quote was accepted, then 409 until the change is accepted as well', async () => {
    const { convert, api, path } = await offer();
    await api.patch(path, { status: 'Accepted' });
    await api.patch(path, { amount: 1200 });
    expect((await api.get(path)).body.data.acceptance).toMatchObject({ changed: true });
    expect(await convert()).toEqual([
      409,
      expect.objectContaining({ error: 'Quote was changed after it was accepted' }),
    ]);
    expect(await convert({ accept_changes: true })).toMatchObject([201, { amount: 1200 }]);
    expect((await api.get(path)).body.data.acceptance).toMatchObject({ changed: false });
    await api.patch(path, { status: 'Sent' });
    expect((await api.get(path)).body.data.acceptance).toMatchObject({ withdrawn_at: expect.any(String) });
  });

  test('when the draft is deleted or the invoice cancelled, then the quote can be converted again', async () => {
    const { convert, api } = await offer();
    const [, first] = await convert({ accept: true });
    expect((await api.delete(`/api/v1/invoices/${first['id']}`)).status).toBe(200);
    const [, second] = await convert({ status: 'Sent' });
    expect(await convert()).toEqual([
      409,
      expect.objectContaining({ error: 'Quote was already converted to INV-0002' }),
    ]);
    expect((await api.patch(`/api/v1/invoices/${second['id']}`, { status: 'Cancelled' })).status).toBe(200);
    expect(await convert()).toMatchObject([201, { invoice_number: 'INV-0003' }]);
  });

  test('when the draft gets another amount, then the rest is left to bill, and another currency is rejected', async () => {
    const { convert, api, path } = await offer();
    const [, made] = await convert({ accept: true });
    const change = await api.patch(`/api/v1/invoices/${made['id']}`, { currency: 'JPY' });
    expect([change.status, change.body.error]).toEqual([
      409,
      'Cannot change currency of a part of QUO-0001: delete it and convert again',
    ]);
    expect((await api.get(path)).body.data.left_to_bill).toBe(0);
    expect((await api.patch(`/api/v1/invoices/${made['id']}`, { amount: 900, line_items: null })).status).toBe(200);
    expect((await api.get(path)).body.data.left_to_bill).toBe(100);
  });
});

describe('an invoice that was written off in full', () => {
  test('when the invoice of a quote is written off, then the quote stays converted', async () => {
    const { convert, api, path } = await offer();
    const [, invoice] = await convert({ accept: true, status: 'Sent' });
    await api.post(`/api/v1/invoices/${invoice['id']}/write-off`, { reason: 'Insolvent' });
    for (const body of [{}, { part: 'progress', amount: 5 }, { part: 'final' }]) {
      expect(await convert(body)).toEqual([
        409,
        expect.objectContaining({ error: 'Quote was already converted to INV-0001' }),
      ]);
    }
    expect((await api.get(path)).body.data).toMatchObject({
      left_to_bill: 0,
      invoices: [{ invoice_number: 'INV-0001', status: 'Cancelled' }],
    });
  });

  test('when a deposit is written off, then the final invoice does not bill it again', async () => {
    const { convert, api } = await offer();
    const [, deposit] = await convert({ part: 'deposit', amount: 250, accept: true, status: 'Sent' });
    await api.post(`/api/v1/invoices/${deposit['id']}/write-off`, { reason: 'Goodwill' });
    expect(await convert({ part: 'final' })).toMatchObject([201, { amount: 750 }]);
  });

  test('when a partly written-off invoice is cancelled, then the quote can be converted again', async () => {
    const { convert, api } = await offer();
    const [, invoice] = await convert({ accept: true, status: 'Sent' });
    await api.post(`/api/v1/invoices/${invoice['id']}/write-off`, { reason: 'Bank fee', amount: 5 });
    await api.patch(`/api/v1/invoices/${invoice['id']}`, { status: 'Cancelled' });
    expect(await convert()).toMatchObject([201, { invoice_number: 'INV-0002' }]);
  });
});

describe('a quote in parts', () => {
  test('when 999.99 is billed as 30 % + 30 % + final, then the net amounts add up to 999.99, and a fourth part is 409', async () => {
    const { convert, api, path } = await offer({ amount: 999.99 });
    const share = { percent: 30, accept: true, status: 'Sent' };
    const [, deposit] = await convert({ ...share, part: 'deposit' });
    expect(deposit).toMatchObject({ amount: 300, line_items: [{ description: 'Deposit 30% for QUO-0001' }] });
    await convert({ ...share, part: 'progress' });
    expect(await convert({ part: 'progress', amount: 400 })).toEqual([
      409,
      expect.objectContaining({ error: 'Only 399.99 of QUO-0001 is left to bill' }),
    ]);
    expect(await convert()).toEqual([
      409,
      expect.objectContaining({ error: 'Only 399.99 of QUO-0001 is left to bill' }),
    ]);
    const [status, final] = await convert({ part: 'final' });
    expect([status, final]).toMatchObject([
      201,
      {
        amount: 399.99,
        tax_amount: 76,
        line_items: [
          { description: 'Mill', rate: '999.99' },
          {
            description: expect.stringMatching(/^Less INV-0001 of .* \(tax contained in it: €57\.00\)$/),
            rate: '-300',
          },
          { description: expect.stringMatching(/^Less INV-0002 of /), rate: '-300' },
        ],
      },
    ]);
    for (const part of ['final', 'full']) {
      expect(await convert({ part })).toEqual([
        409,
        expect.objectContaining({ error: 'Quote was already converted to INV-0003' }),
      ]);
    }
    expect(await convert({ part: 'deposit', percent: 1 })).toEqual([
      409,
      expect.objectContaining({ error: 'Quote was already converted to INV-0003' }),
    ]);
    const { invoices, left_to_bill } = (await api.get(path)).body.data;
    expect(invoices.map(({ amount }: { amount: number }) => amount)).toEqual([300, 300, 399.99]);
    expect(left_to_bill).toBe(0);
  });

  test('when a part is still a draft, then a final invoice is rejected, its amount cannot change and no time can be added', async () => {
    const { convert, api, path } = await offer();
    const [, deposit] = await convert({ part: 'deposit', amount: 250, accept: true });
    expect(await convert({ part: 'final' })).toEqual([
      409,
      expect.objectContaining({ error: 'Cannot make the final invoice while INV-0001 is a draft' }),
    ]);
    const change = await api.patch(`/api/v1/invoices/${deposit['id']}`, { line_items: LINES });
    expect([change.status, change.body.error]).toEqual([
      409,
      'Cannot change amount of a part of QUO-0001: delete it and convert again',
    ]);
    const time = await api.post(`/api/v1/invoices/${deposit['id']}/time-entries`, {});
    expect([time.status, time.body.error]).toEqual([
      409,
      'Cannot add time to a part of QUO-0001: bill it on an invoice of its own',
    ]);
    expect((await api.patch(path, { amount: 200 })).body.error).toBe(
      'Cannot set an amount below 250.00: so much was billed',
    );
    expect((await api.patch(path, { currency: 'USD' })).status).toBe(409);
    await api.patch(path, { status: 'Draft' });
    expect((await api.delete(path)).body.error).toBe('Cannot delete a quote with invoices');
  });

  test('when a share is missing, repeated or the whole quote, then 400 lists the problems', async () => {
    const { convert } = await offer();
    const details = async (body: object) => {
      const [status, answer] = await convert({ accept: true, ...body });
      return [status, (answer as { details?: unknown }).details];
    };
    expect(await details({ part: 'deposit' })).toEqual([400, ['percent or amount is required for deposit']]);
    expect(await details({ part: 'progress', percent: 5, amount: 5 })).toEqual([
      400,
      ['percent and amount must not both be given for progress'],
    ]);
    expect(await details({ percent: 5 })).toEqual([400, ['percent and amount are not allowed for full']]);
    expect(await details({ part: 'deposit', amount: 0 })).toEqual([
      400,
      ['amount must be at least the smallest unit of EUR'],
    ]);
  });
});

describe('credits of parts at the same moment', () => {
  const ROUNDS = 6;

  /** A quote of 1,000 with deposits of 300 and 200 that were sent. */
  async function deposited() {
    const { api, path, convert } = await offer();
    const parts: { id: string }[] = [];
    for (const percent of [30, 20]) {
      const [, part] = await convert({ part: 'deposit', percent, accept: true, status: 'Sent' });
      parts.push(part as never);
    }
    const credit = (index: number, amount: number) =>
      api.post(`/api/v1/invoices/${parts[index]?.id}/credit-notes`, { reason: 'correction', amount });
    const shown = async () => (await api.get(path)).body.data;
    return { api, path, convert, credit, shown };
  }

  test('when the rest is converted while parts are credited, then each cent can be billed once, and the last event is the quote', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { api, convert, credit, shown } = await deposited();
      const replies = await Promise.all([
        credit(0, 100),
        convert({ part: 'final', status: 'Sent' }),
        credit(1, 50),
        convert({ part: 'final', status: 'Sent' }),
      ]);
      const made = replies.filter((reply) => Array.isArray(reply) && reply[0] === 201);
      expect(made).toHaveLength(1);
      const quote = await shown();
      const billed = quote.invoices.reduce(
        (sum: number, { amount, corrected }: Record<string, number>) => sum + (amount ?? 0) - (corrected ?? 0),
        0,
      );
      expect(billed + quote.left_to_bill).toBe(1000);
      const events = (await api.get('/api/v1/events?limit=100')).body.data;
      const last = events.findLast(({ data }: { data: { id: string } }) => data.id === quote.id);
      expect(last.data).toEqual(quote);
      if (quote.left_to_bill > 0) {
        expect((await convert({ part: 'progress', amount: quote.left_to_bill }))[0]).toBe(201);
      }
      expect((await shown()).left_to_bill).toBe(0);
    }
  });

  test('when a draft final is sent while a part is credited, then it is sent before, or refused after', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { api, convert, credit, shown } = await deposited();
      const [, final] = await convert({ part: 'final' });
      const at = `/api/v1/invoices/${final['id']}`;
      const [credited, sent] = await Promise.all([credit(0, 100), api.patch(at, { status: 'Sent' })]);
      expect(credited.status).toBe(201);
      const { left_to_bill } = await shown();
      expect([sent.status, left_to_bill]).toEqual([sent.status === 200 ? 200 : 409, 100]);
      if (sent.status === 409) expect(sent.body.error).toContain('INV-0001 has changed since');
      const events = (await api.get('/api/v1/events?limit=100')).body.data.map(({ type }: { type: string }) => type);
      const order = [events.indexOf('credit_note.issued'), events.lastIndexOf('invoice.sent')];
      if (sent.status === 200) expect(order[1]).toBeLessThan(order[0] as number);
    }
  });
});
