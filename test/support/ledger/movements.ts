// Movements of time and money. Each names its records by position, so that any sequence can be made and repeated.
import { CREDIT_REASONS } from '#libs/rules/credits/credit-reasons.ts';
import type { AnyRecord } from '../crashes/billing-world.ts';
import { EARLY_PAYMENT, type LedgerWorld } from './ledger-world.ts';
import { TIMER_MOVES, timerRequest } from './timer-movements.ts';

export const MOVES = [
  'pay',
  'payInvoice',
  'payEarly',
  'allocate',
  'release',
  'void',
  'refund',
  'writeOff',
  'takeBackWriteOff',
  'credit',
  'creditWork',
  'allocateCredit',
  'releaseCredit',
  'refundCredit',
  'setCancelling',
  'markPaid',
  'cancel',
  'issue',
  'delete',
  'billTime',
  'addTime',
  'releaseTime',
  'logTime',
  'settleTime',
  'changeTime',
  'deleteTime',
  'convert',
  'accept',
  ...TIMER_MOVES,
] as const;

type Move = (typeof MOVES)[number];

export interface Movement {
  move: Move;
  /** Position of the invoice, quote or entry, modulo their number. */
  which: number;
  /** Position of the payment, or of a second entry. */
  other: number;
  /** An amount. Null leaves it out of the request. */
  cents: number | null;
  /** One of two ways: see the move. */
  isOther: boolean;
}

export const WHICH_MAX = 9;
export const CENTS_MAX = 20_000;
/** Statuses that a movement may get. A step may be refused, but it never fails. */
export const ANSWERS: readonly number[] = [200, 201, 400, 404, 409, 422];
const EXTERNAL_IDS = 3;

/** @returns the status of the response. */
export async function take(world: LedgerWorld, movement: Movement, key?: string): Promise<number> {
  const request = await requestOf(world, movement);
  if (!request) return 404;
  const { method, path, body } = request;
  const headers: Record<string, string> = key === undefined || method !== 'POST' ? {} : { 'Idempotency-Key': key };
  const reply = await world.send(method, path, body, headers);
  if (reply.status === 201) remember(world, movement, reply.body.data);
  return reply.status;
}

export interface Request {
  method: 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: object;
}

export async function requestOf(world: LedgerWorld, movement: Movement): Promise<Request | undefined> {
  const { client_id, project_id, invoices, quotes, entries } = world;
  const { move, which, other, cents, isOther } = movement;
  const invoice = at(invoices, which);
  const entry = at(entries, which);
  const amount = cents === null ? {} : { amount: cents / 100 };
  const external = isOther && which < EXTERNAL_IDS ? { external_id: `bank-${which}` } : {};
  const post = (path: string, body: object = {}): Request => ({ method: 'POST', path, body });
  const patch = (path: string, body: object): Request => ({ method: 'PATCH', path, body });
  switch (move) {
    case 'pay':
      // The same external id names the same money.
      return post('/payments', {
        client_id,
        amount: 'external_id' in external ? 75 : (cents ?? 5_000) / 100,
        ...(other % 2 === 0 ? {} : { allocations: [] }),
        ...external,
      });
    case 'payInvoice':
      return post(`/invoices/${invoice}/payments`, amount);
    case 'payEarly':
      return payEarly(world, movement);
    case 'writeOff':
      return post(`/invoices/${invoice}/write-off`, { ...amount, reason: 'x' });
    case 'takeBackWriteOff':
      return { method: 'DELETE', path: `/invoices/${invoice}/write-off` };
    case 'credit':
      return post(`/invoices/${invoice}/credit-notes`, creditOf(movement));
    case 'creditWork':
      return creditOfWork(world, movement);
    case 'setCancelling':
      return patch('/account', { cancel_with_credit_note: isOther });
    case 'markPaid':
      return patch(`/invoices/${invoice}`, { status: 'Paid' });
    case 'cancel':
      return patch(`/invoices/${invoice}`, { status: 'Cancelled' });
    case 'issue':
      return patch(`/invoices/${invoice}`, { status: 'Sent' });
    case 'delete':
      return { method: 'DELETE', path: `/invoices/${invoice}` };
    case 'billTime': {
      const named = isOther ? { time_entry_ids: [...new Set([entry, at(entries, other)])] } : {};
      return post('/invoices/from-time', { client_id, status: other % 2 === 0 ? 'Draft' : 'Sent', ...named });
    }
    case 'addTime':
      return post(`/invoices/${invoice}/time-entries`, isOther ? { time_entry_ids: [at(entries, other)] } : {});
    case 'releaseTime': {
      const named = isOther ? { time_entry_ids: [at(entries, other)] } : {};
      return post(`/invoices/${invoice}/time-entries/release`, named);
    }
    case 'logTime':
      return post('/time-entries', { project_id, hours: 1 + (other % 3), date: '2026-01-03' });
    case 'settleTime': {
      const status = other % 2 === 0 ? 'unbilled' : isOther ? 'written_off' : 'billed_elsewhere';
      return post('/time-entries/billing', { time_entry_ids: [entry], status });
    }
    case 'changeTime':
      return patch(`/time-entries/${entry}`, isOther ? { billable: other % 2 === 0 } : { hours: 1 + (other % 4) });
    case 'deleteTime':
      return { method: 'DELETE', path: `/time-entries/${entry}` };
    case 'accept':
      return patch(`/quotes/${at(quotes, which)}`, isOther ? { status: 'Sent' } : { status: 'Accepted' });
    case 'convert':
      return post(`/quotes/${at(quotes, which)}/convert`, conversionOf(movement));
    case 'startTimer':
    case 'stopTimer':
    case 'discardTimer':
      return timerRequest(world, { ...movement, move });
    case 'allocate':
    case 'refund':
    case 'release':
    case 'void':
      return changeOf(world, '/payments', movement);
    case 'allocateCredit':
    case 'releaseCredit':
    case 'refundCredit':
      return changeOf(world, '/credit-notes', movement);
  }
}

const PARTS = ['full', 'deposit', 'progress', 'final'] as const;

function conversionOf({ other, cents, isOther }: Movement) {
  const part = PARTS[other % PARTS.length];
  const share = part === 'deposit' || part === 'progress' ? { percent: 10 + ((cents ?? 0) % 60) } : {};
  return { part, ...share, accept: true, accept_changes: true, status: isOther ? 'Sent' : 'Draft' };
}

function creditOf({ which, other, cents, isOther }: Movement) {
  const external = which < EXTERNAL_IDS ? { external_id: `back-${which}` } : {};
  return {
    reason: CREDIT_REASONS[other % CREDIT_REASONS.length],
    ...(cents === null ? {} : { amount: cents / 100 }),
    ...(isOther ? { settle: 'refund', refund: external } : {}),
  };
}

/** Pays what a discount leaves of an invoice, or a cent less. */
async function payEarly(
  { send, invoices }: LedgerWorld,
  { which, other, isOther }: Movement,
): Promise<Request | undefined> {
  const invoice = at(invoices, which);
  const { status, body } = await send('GET', `/invoices/${invoice}`);
  if (status !== 200) return undefined;
  const { total, rounding_amount, total_credited, amount_due } = body.data;
  const { percent } = at(EARLY_PAYMENT, other);
  const discount = Math.round(((total + rounding_amount - total_credited) * percent) / 100 / 0.01) / 100;
  const amount = Math.round((amount_due - discount - (isOther ? 0.01 : 0)) * 100) / 100;
  return amount > 0 ? { method: 'POST', path: `/invoices/${invoice}/payments`, body: { amount } } : undefined;
}

/** Credits an entry, and perhaps a second one, on the invoice that the first is on. */
async function creditOfWork(
  { send, entries }: LedgerWorld,
  { which, other, isOther }: Movement,
): Promise<Request | undefined> {
  const entry = at(entries, which);
  const { status, body } = await send('GET', `/time-entries/${entry}`);
  if (status !== 200 || !body.data.invoice) return undefined;
  const time_entry_ids = [...new Set([entry, ...(isOther ? [at(entries, other)] : [])])];
  const reason = CREDIT_REASONS[other % CREDIT_REASONS.length];
  return { method: 'POST', path: `/invoices/${body.data.invoice.id}/credit-notes`, body: { reason, time_entry_ids } };
}

/** Returns the request that changes a payment or a credit note. */
async function changeOf(
  { send, invoices }: LedgerWorld,
  list: '/payments' | '/credit-notes',
  { move, which, other, cents, isOther }: Movement,
): Promise<Request | undefined> {
  const { status, body } = await send('GET', `${list}?limit=100&sort=created_at`);
  if (status !== 200) return undefined;
  const records = body.data as AnyRecord[];
  const record = records[other % Math.max(1, records.length)];
  if (!record) return undefined;
  const path = `${list}/${record.id}`;
  const invoice_id = at(invoices, which);
  const amount = cents === null ? {} : { amount: cents / 100 };
  if (move === 'void') return { method: 'POST', path: `${path}/void`, body: { reason: 'x' } };
  if (move === 'release' || move === 'releaseCredit') return { method: 'POST', path: `${path}/release`, body: {} };
  if (move === 'allocate' || move === 'allocateCredit') {
    return { method: 'POST', path: `${path}/allocations`, body: { invoice_id, ...amount } };
  }
  const external = which < EXTERNAL_IDS ? { external_id: `back-${which}`, amount: 5 } : {};
  const from = isOther && move === 'refund' ? { invoice_id } : {};
  return { method: 'POST', path: `${path}/refunds`, body: { amount: (cents ?? 100) / 100, ...from, ...external } };
}

function remember({ invoices, entries }: LedgerWorld, { move }: Movement, made: AnyRecord) {
  if (move === 'billTime' || move === 'convert') addOnce(invoices, made.id);
  if (move === 'logTime' || move === 'stopTimer') addOnce(entries, made.id);
}

function addOnce(list: string[], id: string) {
  if (!list.includes(id)) list.push(id);
}

/** Counted around. */
function at<Item>(list: readonly Item[], position: number): Item {
  return list[position % list.length] as Item;
}
