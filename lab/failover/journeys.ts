// The business of an account, from time to a receipt, through all services again and again, and a journal of what was acknowledged.
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type ParsedMail, simpleParser } from 'mailparser';
import { addDays, dayIn } from '#libs/day.ts';
import type { Browser } from '../../test/support/dashboard/dashboard.ts';
import { eventually } from '../../test/support/eventually.ts';
import { sendRequest, type Target } from '../../test/support/load.ts';
import type { Relay } from '../../test/support/smtp-relay.ts';

/** The collections that journeys fill, with the ids of what was acknowledged. */
type Acknowledged = Record<(typeof COLLECTIONS)[number], string[]>;
export const COLLECTIONS = [
  'clients',
  'projects',
  'time_entries',
  'invoices',
  'payments',
  'recurring_invoices',
] as const;

export interface JourneyJournal {
  acknowledged: Acknowledged;
  /** Invoices that were paid in full. */
  paid: string[];
  /** Invoices that were due before they were made. */
  overdue: string[];
  finished: number;
  /** Pages of the operations dashboard that were shown. */
  pages: number;
  /** Refusals of every service, which callers answer by asking again. */
  refusals: string[];
  breaches: string[];
}

export interface Journeys {
  journal: JourneyJournal;
  /** Goes through one journey from its begin to its end. @returns the time of its end. */
  once(name: string): Promise<number>;
  /** Resolves when the journeys under way have ended. */
  stop(): Promise<void>;
}

interface JourneyParts {
  target: Target;
  portalUrl: string;
  /** A browser with the session of an operator. */
  dashboard: Browser;
  relay: Relay;
}

const CALLERS = 2;
const PAGES = ['/', '/deliveries', '/mail', '/business', '/failures', '/accounts', '/renders', '/requests'];
const PAUSE_MS = 100;
const LOOK_EVERY_MS = 250;
/** Only ends a hang. */
const LIMIT_MS = 180_000;
const RUNNING = 'is still running';
const LINK = /http:\/\/127\.0\.0\.1:\d+(\/p\/[\w-]+)/;

interface Answered<Value> {
  status: number;
  text: string;
  value: Value;
}

export function startJourneys({ target, portalUrl, dashboard, relay }: JourneyParts): Journeys {
  const acknowledged = Object.fromEntries(COLLECTIONS.map((name) => [name, []])) as unknown as Acknowledged;
  const journal: JourneyJournal = {
    acknowledged,
    paid: [],
    overdue: [],
    finished: 0,
    pages: 0,
    refusals: [],
    breaches: [],
  };
  let isStopping = false;
  let addresses = 0;

  /** Asks until it is done, as a caller does to whom the service says that it is unavailable. */
  async function insist<Value>(what: string, ask: () => Promise<Answered<Value>>): Promise<Value> {
    for (const end = Date.now() + LIMIT_MS; ; await pause(PAUSE_MS)) {
      const { status, text, value } = await ask();
      if (status < 300) return value;
      const said = `${what}: ${status} ${text.slice(0, 200)}`;
      const isRunning = status === 409 && text.includes(RUNNING);
      if (Date.now() > end || !(status === 503 || status === 504 || isRunning)) throw new Error(said);
      journal.refusals.push(said);
    }
  }

  /** Sends a request again and again with the same idempotency key. */
  async function post(path: string, body: object = {}, keep?: keyof Acknowledged) {
    const call = { method: 'POST', path: `/api/v1${path}`, body, headers: { 'Idempotency-Key': randomUUID() } };
    const made = await insist(`POST ${path}`, async () => {
      const { status, bytes, body: value } = await sendRequest(target, call);
      return { status, text: String(bytes), value };
    });
    if (keep) acknowledged[keep].push(made.data.id);
    return made.data;
  }

  const look = (path: string, address: string) =>
    insist(`GET ${path.replace(/[\w-]{20,}/, '…')}`, async () => {
      const response = await fetch(portalUrl + path, { headers: { 'X-Forwarded-For': address } });
      const value = Buffer.from(await response.arrayBuffer());
      return { status: response.status, text: String(value), value };
    });

  /** Returns the mails that the client has, once there are as many. */
  async function mailsTo(email: string, count: number): Promise<ParsedMail[]> {
    const sources = () => relay.taken.filter(({ to }) => to.includes(email)).map(({ source }) => source);
    const found = await eventually(() => sources().length >= count && sources(), LIMIT_MS);
    return Promise.all(found.map((source) => simpleParser(source)));
  }

  async function addClient(name: string) {
    const email = `${name.replaceAll(' ', '-')}@example.com`;
    const client_id: string = (await post('/clients', { name, email }, 'clients')).id;
    return { client_id, email };
  }

  /** Time becomes an invoice, its client gets it by mail, looks at its page, pays, and gets a receipt. */
  async function billTime(name: string): Promise<void> {
    addresses += 1;
    const address = `10.0.${addresses >> 8}.${addresses & 255}`;
    const { client_id, email } = await addClient(name);
    const { id: project_id } = await post('/projects', { name: 'Engine', client_id, hourly_rate: 95 }, 'projects');
    const work = { project_id, hours: 2, date: dayIn('UTC'), description: 'Drawings' };
    await post('/time-entries', work, 'time_entries');
    const { id } = await post('/invoices/from-time', { client_id }, 'invoices');
    await post(`/invoices/${id}/send`);
    const [sent] = (await mailsTo(email, 1)) as [ParsedMail];
    const path = LINK.exec(sent.text ?? '')?.[1] ?? '';
    const open = String(await look(path, address));
    if (!open.includes('€190.00')) throw new Error(`the page of ${id} does not show its amount`);
    const paper = await look(`${path}/pdf`, address);
    const mailed = sent.attachments.map(({ content }) => sha256(content));
    if (paper.subarray(0, 5).toString() !== '%PDF-' || String(mailed) !== sha256(paper))
      throw new Error(`the mail and the page of ${id} have different documents`);
    await post(`/invoices/${id}/payments`, { method: 'bank_transfer' }, 'payments');
    journal.paid.push(id);
    if (!/>Paid</.test(String(await look(path, address))))
      throw new Error(`the page of ${id} does not say that it is paid`);
    const isReceipt = ({ attachments, subject }: ParsedMail) => attachments.length === 1 && subject !== sent.subject;
    await eventually(async () => (await mailsTo(email, 2)).some(isReceipt), LIMIT_MS);
  }

  /** Work for the scheduler: a recurring invoice whose day it is, and an overdue one to remind of. */
  async function planWork(name: string): Promise<void> {
    const { client_id } = await addClient(`${name} late`);
    const line_items = [{ description: 'Fee', quantity: 1, rate: 95 }];
    const schedule = { unit: 'month', start_on: dayIn('UTC') };
    await post('/recurring-invoices', { client_id, line_items, currency: 'EUR', schedule }, 'recurring_invoices');
    const due_date = addDays(dayIn('UTC'), -2);
    const invoice = { client_id, line_items, currency: 'EUR', due_date, status: 'Sent' };
    journal.overdue.push((await post('/invoices', invoice, 'invoices')).id);
  }

  async function journey(name: string): Promise<void> {
    try {
      await Promise.all([billTime(name), planWork(name)]);
      journal.finished += 1;
    } catch (error) {
      journal.breaches.push(`journey ${name}: ${(error as Error).message}`);
      await pause(PAUSE_MS);
    }
  }

  async function caller(name: string): Promise<void> {
    for (let turn = 1; !isStopping; turn += 1) await journey(`${name} ${turn}`);
  }

  async function operator(): Promise<void> {
    for (let turn = 0; !isStopping; turn += 1) {
      const path = PAGES[turn % PAGES.length] as string;
      try {
        await insist(`dashboard ${path}`, async () => {
          const { status, text } = await dashboard.get(path);
          // Without its session it would lead to the login.
          return { status: status === 303 ? 500 : status, text, value: undefined };
        });
        journal.pages += 1;
      } catch (error) {
        journal.breaches.push((error as Error).message);
      }
      await pause(LOOK_EVERY_MS);
    }
  }

  const running = [operator(), ...Array.from({ length: CALLERS }, (_, index) => caller(`caller ${index + 1}`))];
  return {
    journal,
    async once(name) {
      await journey(name);
      return performance.now();
    },
    async stop() {
      isStopping = true;
      await Promise.all(running);
    },
  };
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
