// The writes that a gateway is killed in, each with the records that it needs.
import { type Caller, madeBy } from './billing-world.ts';

export interface PreparedWrite {
  method: 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: object;
}

export interface Write {
  name: string;
  /** Makes the records of a new account that the write works on. */
  prepare(call: Caller): Promise<PreparedWrite>;
  /** The status of a repeat without an Idempotency-Key after the write is stored. A POST is replayed instead. */
  repeated?: number;
}

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

export const WRITES: readonly Write[] = [
  {
    name: 'create an invoice',
    async prepare(call) {
      const { client_id } = await madeBy(call);
      return { method: 'POST', path: '/invoices', body: { client_id, amount: 10, due_date: '2099-01-01' } };
    },
  },
  {
    name: 'bill time',
    async prepare(call) {
      const { client_id, logged } = await madeBy(call);
      await logged(3);
      return { method: 'POST', path: '/invoices/from-time', body: { client_id } };
    },
  },
  {
    name: 'add time to a draft',
    async prepare(call) {
      const { invoice, logged } = await madeBy(call);
      const line_items = [{ description: 'Travel', quantity: 1, rate: 20 }];
      const { id } = await invoice({ status: 'Draft', line_items });
      await logged(2);
      return { method: 'POST', path: `/invoices/${id}/time-entries`, body: {} };
    },
  },
  {
    name: 'take time off a draft',
    async prepare(call) {
      const { billed } = await madeBy(call);
      const { id, entries } = await billed('Draft', 3);
      return { method: 'POST', path: `/invoices/${id}/time-entries/release`, body: { time_entry_ids: [entries[0]] } };
    },
  },
  {
    name: 'settle time by hand',
    async prepare(call) {
      const { logged } = await madeBy(call);
      const body = { time_entry_ids: await logged(3), status: 'written_off' };
      return { method: 'POST', path: '/time-entries/billing', body };
    },
  },
  {
    name: 'start a timer beside one that runs',
    async prepare(call) {
      const { project_id } = await madeBy(call);
      const body = { project_id, owner: 'ada' };
      await call('POST', '/timers', { ...body, started_at: hoursAgo(2) });
      return { method: 'POST', path: '/timers', body };
    },
  },
  {
    name: 'stop a timer',
    async prepare(call) {
      const { project_id } = await madeBy(call);
      const { id } = await call('POST', '/timers', { project_id, started_at: hoursAgo(2) });
      return { method: 'POST', path: `/timers/${id}/stop`, body: { ended_at: hoursAgo(1) } };
    },
  },
  {
    name: 'convert a quote',
    async prepare(call) {
      const { quote } = await madeBy(call);
      const { id } = await quote();
      return { method: 'POST', path: `/quotes/${id}/convert`, body: { accept: true } };
    },
  },
  {
    name: 'make the final invoice of a quote',
    async prepare(call) {
      const { quote } = await madeBy(call);
      const { id } = await quote();
      await call('POST', `/quotes/${id}/convert`, { accept: true, part: 'deposit', percent: 30, status: 'Sent' });
      return { method: 'POST', path: `/quotes/${id}/convert`, body: { part: 'final' } };
    },
  },
  {
    name: 'book a payment',
    async prepare(call) {
      const { client_id, invoice } = await madeBy(call);
      await invoice({ amount: 40 });
      await invoice({ amount: 50 });
      return { method: 'POST', path: '/payments', body: { client_id, amount: 100, external_id: 'bank-1' } };
    },
  },
  {
    name: 'mark an invoice paid',
    async prepare(call) {
      const { invoice } = await madeBy(call);
      return { method: 'PATCH', path: `/invoices/${(await invoice()).id}`, body: { status: 'Paid' } };
    },
    repeated: 200,
  },
  {
    name: 'use credit',
    async prepare(call) {
      const { payment, invoice } = await madeBy(call);
      const { id } = await payment({ amount: 100, allocations: [] });
      const body = { invoice_id: (await invoice({ amount: 40 })).id };
      return { method: 'POST', path: `/payments/${id}/allocations`, body };
    },
  },
  {
    name: 'release a payment',
    async prepare(call) {
      const { payment, invoice } = await madeBy(call);
      await invoice({ amount: 40 });
      await invoice({ amount: 50 });
      return { method: 'POST', path: `/payments/${(await payment({ amount: 100 })).id}/release`, body: {} };
    },
  },
  {
    name: 'refund a payment',
    async prepare(call) {
      const { payment, invoice } = await madeBy(call);
      const { id: invoice_id } = await invoice({ amount: 40 });
      const { id } = await payment({ amount: 40 });
      const body = { amount: 15, invoice_id, external_id: 'back-1' };
      return { method: 'POST', path: `/payments/${id}/refunds`, body };
    },
  },
  {
    name: 'void a payment',
    async prepare(call) {
      const { payment, invoice } = await madeBy(call);
      await invoice({ amount: 40 });
      const { id } = await payment({ amount: 100 });
      return { method: 'POST', path: `/payments/${id}/void`, body: { reason: 'entered twice' } };
    },
  },
  {
    name: 'write off an invoice',
    async prepare(call) {
      const { invoice } = await madeBy(call);
      return { method: 'POST', path: `/invoices/${(await invoice()).id}/write-off`, body: { reason: 'insolvent' } };
    },
  },
  {
    name: 'credit an invoice with time and money on it',
    async prepare(call) {
      const { billed } = await madeBy(call);
      const { id } = await billed('Sent', 2);
      await call('POST', `/invoices/${id}/payments`, { amount: 30 });
      const refund = { external_id: 'back-2' };
      const body = { reason: 'cancellation', settle: 'refund', refund };
      return { method: 'POST', path: `/invoices/${id}/credit-notes`, body };
    },
  },
  {
    name: 'cancel an invoice with time and money on it',
    async prepare(call) {
      const { billed } = await madeBy(call);
      const { id } = await billed('Sent', 2);
      await call('POST', `/invoices/${id}/payments`, { amount: 30 });
      return { method: 'PATCH', path: `/invoices/${id}`, body: { status: 'Cancelled' } };
    },
    repeated: 200,
  },
  {
    name: 'delete a draft with time on it',
    async prepare(call) {
      const { billed } = await madeBy(call);
      return { method: 'DELETE', path: `/invoices/${(await billed('Draft', 2)).id}` };
    },
    repeated: 404,
  },
];
