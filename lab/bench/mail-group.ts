// Mails a second: a backlog of invoices whose originals are kept, beside a bare loop that sends the same mail to the same server.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { median } from 'es-toolkit/math/median';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { eventually } from '../../test/support/eventually.ts';
import { insertMessage } from '../../test/support/messages.ts';
import { openSmtpRelay } from '../../test/support/smtp-relay.ts';
import { spawnService } from '../../test/support/spawn-service.ts';
import { type BenchAccount, seedAccount, seedOriginals } from './api-data.ts';
import { openBenchWorkspace } from './bench-workspace.ts';
import type { BenchOptions } from './main.ts';
import { cpuMsOf } from './process-cpu.ts';
import { progress } from './progress.ts';
import { type Row, row } from './rows.ts';

/** Transactions of one account wait for each other, which is not what is measured here. */
const ACCOUNTS = 10;
const INVOICES = 5;
/** The first round only warms. */
const ROUNDS = 4;
const MAILS = 400;
/** The connections of both sides, as many as MAIL_CONCURRENCY has by default. */
const CONNECTIONS = 5;
/** Share of a round that is not measured: its first mails are not the sustained rate. */
const WARMING_SHARE = 1 / 4;

export async function* bench(options: BenchOptions): AsyncGenerator<Row[]> {
  const workspace = await openBenchWorkspace(options);
  const relay = await openSmtpRelay();
  const arrivals: number[] = [];
  relay.behave({
    onContents() {
      arrivals.push(performance.now());
      relay.taken.length = 0;
      relay.named.length = 0;
      return undefined;
    },
  });
  const floor = openBareLoop(relay.url);
  try {
    await ensureIndexes();
    progress('mail: making originals');
    const accounts: BenchAccount[] = [];
    for (let count = 0; count < ACCOUNTS; count += 1) {
      const account = await seedAccount(workspace.mongodbUri, INVOICES);
      await seedOriginals(account, account.invoiceIds);
      accounts.push(account);
    }
    const service = await spawnService('mail', workspace, {
      NODE_ENV: 'production',
      SMTP_URL: relay.url,
      MAIL_FROM: 'Bench <billing@example.com>',
      MAIL_CONCURRENCY: String(CONNECTIONS),
    });
    try {
      const rates = { ours: [] as number[], floor: [] as number[] };
      const cpu = { ours: [] as number[], floor: [] as number[] };
      const measured = async (side: keyof typeof rates, pid: number, send: () => Promise<void>) => {
        arrivals.length = 0;
        const before = cpuMsOf([pid]);
        await send();
        await eventually(() => arrivals.length >= MAILS, 300_000);
        rates[side].push(rateOf(arrivals));
        cpu[side].push((cpuMsOf([pid]) - before) / MAILS);
      };
      for (let round = 1; round <= ROUNDS; round += 1) {
        progress(`mail: a bare loop and the service in turn, round ${round} of ${ROUNDS}`);
        await measured('floor', floor.pid, () => floor.send(MAILS));
        // A stopped service takes nothing from the backlog before it is complete.
        service.kill('SIGSTOP');
        await queueMails(accounts).finally(() => service.kill('SIGCONT'));
        await measured('ours', service.pid, async () => undefined);
      }
      const figure = (rounds: readonly number[]) => median(rounds.slice(1));
      yield [
        row('mails with the original of an invoice', '/s', figure(rates.ours), figure(rates.floor), ['≥', 0.5]),
        row('mails with the original of an invoice, processor', 'ms', figure(cpu.ours), figure(cpu.floor)),
      ];
    } finally {
      await service.stop();
    }
  } finally {
    floor.close();
    await relay.close();
    await workspace.close();
  }
}

async function queueMails(accounts: readonly BenchAccount[]): Promise<void> {
  for (const { id, invoiceIds } of accounts) {
    const invoices = await Invoice.find({ account_id: id, _id: { $in: invoiceIds } }).lean<InvoiceRecord[]>();
    for (let count = 0; count < MAILS / ACCOUNTS; count += 1) {
      const { _id, client_id, number } = invoices[count % invoices.length] as InvoiceRecord;
      await insertMessage(id, { document: { type: 'invoice', id: _id, number: `INV-${number}` }, client_id });
    }
  }
}

function rateOf(times: readonly number[]): number {
  const measured = times.slice(Math.floor(times.length * WARMING_SHARE));
  return measured.length / (((measured.at(-1) ?? 0) - (measured[0] ?? 0)) / 1_000);
}

function openBareLoop(url: string) {
  const env = { PATH: process.env['PATH'], SMTP_URL: url, CONNECTIONS: String(CONNECTIONS) };
  const child = fork('lab/bench/mail-floor.ts', { env });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the bare loop ended with ${code}`);
  });
  ended.catch(() => undefined); // It also ends when it is closed.
  return {
    pid: child.pid as number, // Node itself starts everywhere.
    async send(count: number) {
      const sent = once(child, 'message');
      child.send(count);
      await Promise.race([sent, ended]);
    },
    close: () => void child.kill(),
  };
}
