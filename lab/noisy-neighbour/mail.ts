// The part of mail: how long the mail of two accounts waits alone, and beside an account with thousands of due mails.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { nudgeRelay } from '#libs/jobs/nudge.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { MailServer, type MailServerRecord } from '#libs/models/messages/mail-server.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { driverOf, findOwn, insertOwn } from '#libs/models/records.ts';
import { newRecord } from '#libs/models/tenant.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { insertMessage, inUnit, messageOf } from '../../test/support/messages.ts';
import { openReadyQueues } from '../../test/support/queues.ts';
import { openSmtpRelay, type Relay } from '../../test/support/smtp-relay.ts';
import { spawnService } from '../../test/support/spawn-service.ts';
import type { Workspace } from '../../test/support/workspace.ts';
import { type BenchAccount, seedAccount, seedOriginals } from '../bench/api-data.ts';
import { openBenchWorkspace } from '../bench/bench-workspace.ts';
import type { BenchOptions } from '../bench/main.ts';
import { progress } from '../bench/progress.ts';
import { percentile } from './victim.ts';

/** The mails of the hostile account that are due at once. */
const DUE = 3_000;
const VICTIMS = 2;
/** The time between two mails of a victim. */
const MAIL_EVERY_MS = 1_000;
const WARM_MS = 3_000;
/** A mail that took longer is lost for the measurement. */
const LIMIT_MS = 60_000;
const RATIO_MAX = 5;
const P95 = 0.95;

interface Measuring {
  workspace: Workspace;
  hostile: BenchAccount;
  /** Closed at the end. */
  closing: (() => void)[];
}

interface MailNeighbour {
  name: string;
  /** Returns the fields of its messages. */
  prepare(measuring: Measuring): Promise<Partial<MessageRecord>>;
}

export const MAIL_NEIGHBOURS: readonly MailNeighbour[] = [
  { name: `mail: ${DUE} due mails`, prepare: async () => ({}) },
  { name: `mail: ${DUE} due mails for an own server that hangs`, prepare: hangingServer },
];

export interface MeasuredMail {
  name: string;
  alone: number[];
  beside: number[];
  /** Mails of the victims that did not leave in time. */
  lost: number;
  /** Mails of the hostile account that left meanwhile. */
  sent: number;
}

/** @param ms the time of each measurement. */
export async function measureMail(neighbour: MailNeighbour, options: BenchOptions, ms: number): Promise<MeasuredMail> {
  const workspace = await openBenchWorkspace(options);
  const relay = await openSmtpRelay();
  const queues = await openReadyQueues(workspace);
  const closing: (() => void)[] = [];
  try {
    await ensureIndexes();
    const accounts: BenchAccount[] = [];
    for (let count = 0; count < 1 + VICTIMS; count += 1) {
      const account = await seedAccount(workspace.mongodbUri, 1);
      await seedOriginals(account, account.invoiceIds);
      accounts.push(account);
    }
    const [hostile, ...victims] = accounts as [BenchAccount, ...BenchAccount[]];
    const fields = await neighbour.prepare({ workspace, hostile, closing });
    const service = await spawnService('mail', workspace, {
      NODE_ENV: 'production',
      SMTP_URL: relay.url,
      MAIL_FROM: 'Noisy <billing@example.com>',
    });
    try {
      const sending = await openVictims(victims, { relay, queues });
      await sending.work(WARM_MS);
      progress(`${neighbour.name}: alone`);
      const alone = await sending.work(ms);
      progress(`${neighbour.name}: beside it`);
      await insertDue(hostile, fields);
      const before = sending.others();
      const beside = await sending.work(ms);
      const sent = sending.others() - before;
      return { name: neighbour.name, alone: alone.waits, beside: beside.waits, lost: alone.lost + beside.lost, sent };
    } finally {
      await service.stop();
    }
  } finally {
    for (const close of closing) close();
    await queues.close();
    await relay.close();
    await workspace.close();
  }
}

/** @returns what missed its target. */
export function judgeMail({ alone, beside, lost }: MeasuredMail): string[] {
  // A percentile that is not a number, because nothing was measured, misses the target, too.
  const isLong = !(percentile(beside, P95) <= RATIO_MAX * percentile(alone, P95));
  return [...(isLong ? ['mails'] : []), ...(lost > 0 ? ['lost'] : [])];
}

/** Prints a table in Markdown. */
export function printMail(measured: readonly MeasuredMail[]): void {
  const head = ['neighbour', 'mails p95', 'mails p50', 'lost', 'mails of the neighbour', 'missed'];
  const rows = measured.map((one) => {
    const waits = (share: number) => {
      const [before, after] = [percentile(one.alone, share), percentile(one.beside, share)];
      return `${Math.round(before)} → ${Math.round(after)} ms (${(after / before).toFixed(1)} ×)`;
    };
    const missed = judgeMail(one).join(', ') || 'none';
    return [one.name, waits(P95), waits(0.5), String(one.lost), String(one.sent), missed];
  });
  for (const row of [head, head.map(() => '---'), ...rows]) process.stdout.write(`| ${row.join(' | ')} |\n`);
}

/** Opens victims whose mails are timed from the moment in which they are due to that in which the server has them. */
async function openVictims(victims: readonly BenchAccount[], { relay, queues }: { relay: Relay; queues: Queues }) {
  const expected = new Map<string, () => void>();
  let others = 0;
  relay.behave({
    onContents(address) {
      relay.taken.length = 0;
      relay.named.length = 0;
      const arrive = expected.get(address);
      if (arrive) arrive();
      else others += 1;
      return undefined;
    },
  });
  let mails = 0;
  const mail = async (account: BenchAccount, about: Partial<MessageRecord>) => {
    mails += 1;
    const address = `victim${mails}@example.com`;
    const arrived = new Promise<void>((resolve) => expected.set(address, resolve));
    await insertMessage(account.id, { ...about, recipients: [{ address, role: 'to', state: 'queued' }] });
    const startedAt = performance.now();
    nudgeRelay(queues.redis, queues.prefix);
    const isLost = await Promise.race([arrived.then(() => false), pause(LIMIT_MS, true, { ref: false })]);
    return isLost ? undefined : performance.now() - startedAt;
  };
  const abouts = await Promise.all(victims.map(aboutInvoice));
  return {
    /** Mails that left of other accounts. */
    others: () => others,
    async work(ms: number): Promise<{ waits: number[]; lost: number }> {
      const underWay: Promise<number | undefined>[] = [];
      const until = performance.now() + ms;
      await Promise.all(
        victims.map(async (account, index) => {
          await pause((index * MAIL_EVERY_MS) / victims.length);
          while (performance.now() < until) {
            underWay.push(mail(account, abouts[index] as Partial<MessageRecord>));
            await pause(MAIL_EVERY_MS);
          }
        }),
      );
      const all = await Promise.all(underWay);
      const waits = all.filter((wait) => wait !== undefined);
      return { waits, lost: all.length - waits.length };
    },
  };
}

async function insertDue(hostile: BenchAccount, fields: Partial<MessageRecord>): Promise<void> {
  const about = await aboutInvoice(hostile);
  const messages = Array.from({ length: DUE }, () => messageOf(hostile.id, { ...about, ...fields }));
  await driverOf(Message).insertMany(messages);
}

async function aboutInvoice({ id, invoiceIds }: BenchAccount): Promise<Partial<MessageRecord>> {
  const { _id, client_id, number } = (await findOwn(Invoice, id, invoiceIds[0] as string)) as InvoiceRecord;
  return { document: { type: 'invoice', id: _id, number: `INV-${number}` }, client_id };
}

/** Opens a server that takes connections and says nothing. */
async function hangingServer({ workspace, hostile, closing }: Measuring): Promise<Partial<MessageRecord>> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const from = 'billing@hostile.example';
  const record: MailServerRecord = {
    ...newRecord(hostile.id),
    host: '127.0.0.1',
    port: (server.address() as { port: number }).port,
    tls: 'starttls',
    user: 'hostile',
    secret: openSecretBox(workspace.secretKey).seal('password'),
    from,
  };
  await inUnit(hostile.id, ({ session }) => insertOwn(MailServer, record, session));
  return { sender: from };
}
