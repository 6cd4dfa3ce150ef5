// A few records of an account that time and money are moved between: some invoices, quotes and hours of one client.
import { addDays, dayIn } from '#libs/day.ts';
import type { Reply } from '../gateway.ts';
import type { TestAccount } from '../workspace.ts';

/** @param path below /api/v1. */
export type Send = (method: string, path: string, body?: object, headers?: Record<string, string>) => Promise<Reply>;

export interface LedgerWorld {
  account: TestAccount;
  send: Send;
  client_id: string;
  project_id: string;
  /** Also those that movements make. A deleted one stays. */
  invoices: string[];
  quotes: string[];
  entries: string[];
  /** The client's balance at the end of each day that has passed, see passing-days.ts. */
  memory: string[];
}

/** Every invoice has them. Some days pass in a sequence. */
export const EARLY_PAYMENT = [
  { days: 1, percent: 3 },
  { days: 4, percent: 1.5 },
];

const INVOICES = 4;
const QUOTES = 2;
const ENTRIES = 5;

export async function openLedgerWorld(account: TestAccount, send: Send): Promise<LedgerWorld> {
  const make = async (path: string, body: object) => {
    const { status, body: made } = await send('POST', path, body);
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(made)}`);
    return made.data.id as string;
  };
  const { status } = await send('PATCH', '/account', {
    total_rounding: 0.05,
    early_payment_discounts: EARLY_PAYMENT,
  });
  if (status !== 200) throw new Error(`PATCH /account: ${status}`);
  const client_id = await make('/clients', { name: 'Ada', email: 'ada@example.com' });
  const project_id = await make('/projects', { name: 'Engine', client_id, hourly_rate: 100 });
  const world: LedgerWorld = {
    account,
    send,
    client_id,
    project_id,
    invoices: [],
    quotes: [],
    entries: [],
    memory: [],
  };
  for (let index = 0; index < INVOICES; index += 1) {
    const money = { amount: 50 + 10 * index, tax_rate: 19 };
    // One is late after some days.
    const due_date = index === 0 ? addDays(dayIn('UTC'), 2) : `2099-0${index + 1}-01`;
    const invoice = { client_id, ...money, due_date, status: 'Sent' };
    world.invoices.push(await make('/invoices', invoice));
  }
  // One was paid before half of it was credited: the client has credit from the beginning.
  const paid = `/invoices/${world.invoices[1]}`;
  await make(`${paid}/payments`, {});
  await make(`${paid}/credit-notes`, { reason: 'return', amount: 30 });
  for (let index = 0; index < QUOTES; index += 1) {
    world.quotes.push(await make('/quotes', { client_id, amount: 99.99 + 100 * index, tax_rate: 19, status: 'Sent' }));
  }
  for (let index = 0; index < ENTRIES; index += 1) {
    world.entries.push(await make('/time-entries', { project_id, hours: 1, date: '2026-01-02' }));
  }
  return world;
}
