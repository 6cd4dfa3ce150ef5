// Judges what journeys left: nothing acknowledged is lost, and nothing happened twice.
import { uniq } from 'es-toolkit/array/uniq';
import mongoose from 'mongoose';
import { storedId } from '#libs/models/tenant.ts';
import { eventually } from '../../test/support/eventually.ts';
import { sendRequest, type Target } from '../../test/support/load.ts';
import type { Receiver } from '../../test/support/receiver.ts';
import { runAdmin } from '../../test/support/run-admin.ts';
import type { Relay } from '../../test/support/smtp-relay.ts';
import type { Workspace } from '../../test/support/workspace.ts';
import { COLLECTIONS, type JourneyJournal } from './journeys.ts';

/** Only ends a hang: the scheduler looks every half minute. */
const LIMIT_MS = 180_000;

interface JourneyParties {
  workspace: Workspace;
  accountId: string;
  target: Target;
  relay: Relay;
  /** The receiver of every event. */
  receiver: Receiver;
}

interface Judgement {
  breaches: string[];
  /** Counts for a line of the report. */
  mails: number;
  repeatedMails: number;
  webhooks: number;
  repeatedWebhooks: number;
}

// biome-ignore lint/suspicious/noExplicitAny: records of every collection.
type Stored = any;

export async function judgeJourneys(journal: JourneyJournal, parties: JourneyParties): Promise<Judgement> {
  const { accountId, relay, receiver } = parties;
  const all = async (name: string): Promise<Stored[]> =>
    (await mongoose.connection.db
      ?.collection(name)
      .find({ account_id: storedId(accountId) })
      .toArray()) ?? [];
  const ids = (records: readonly Stored[]) => records.map(({ _id }) => String(_id));
  await eventually(() => isQuiet(journal, parties, all), LIMIT_MS).catch(() => undefined);

  const breaches = [...journal.breaches];
  const same = (what: string, found: readonly string[], wanted: readonly string[]) => {
    const lost = wanted.filter((id) => !found.includes(id));
    const more = found.filter((id, index) => !wanted.includes(id) || found.indexOf(id) !== index);
    if (lost.length > 0) breaches.push(`${what}: ${lost.length} are lost, such as ${lost[0]}`);
    if (more.length > 0) breaches.push(`${what}: ${more.length} came twice or without a request, such as ${more[0]}`);
  };

  const [invoices, messages, events] = await Promise.all(['invoices', 'messages', 'events'].map(all));
  const made = invoices?.filter(({ recurring }) => recurring) ?? [];
  const { acknowledged } = journal;
  for (const name of COLLECTIONS) {
    const found = name === 'invoices' ? invoices?.filter(({ recurring }) => !recurring) : await all(name);
    same(name, ids(found ?? []), acknowledged[name]);
  }
  const paid = invoices?.filter(({ status, amount, amount_paid }) => status === 'Paid' && amount === amount_paid) ?? [];
  same('invoices that were paid', ids(paid), journal.paid);
  const allocated = (await all('payments')).flatMap(({ allocations }) => allocations as Stored[]);
  same(
    'paid by one payment',
    allocated.map(({ invoice_id }) => String(invoice_id)),
    journal.paid,
  );
  const billed = (await all('time_entries')).map(({ invoice_id }) => String(invoice_id));
  same('billed time', billed, journal.paid);
  const runs = made.map(({ recurring }) => String(recurring.id));
  same('invoices of recurring ones', runs, acknowledged.recurring_invoices);

  const ofType = (type: string) =>
    events?.filter((event) => event.type === type).map(({ body }) => String(JSON.parse(body).data.id)) ?? [];
  const caused: Record<string, readonly string[]> = {
    'client.created': acknowledged.clients,
    'project.created': acknowledged.projects,
    'time_entry.created': acknowledged.time_entries,
    'invoice.created': ids(invoices ?? []),
    'invoice.paid': journal.paid,
    'invoice.overdue': journal.overdue,
    'recurring_invoice.created': acknowledged.recurring_invoices,
    'recurring_invoice.ran': acknowledged.recurring_invoices,
    'payment.received': acknowledged.payments,
    'message.accepted': ids(messages ?? []),
  };
  for (const [type, wanted] of Object.entries(caused)) same(`events ${type}`, ofType(type), wanted);

  const calls = receiver.received;
  same('delivered events', uniq(calls.map(({ id }) => id)), ids(events ?? []));
  if (new Set(calls.map(({ id, body }) => id + body)).size !== new Set(calls.map(({ id }) => id)).size)
    breaches.push('an event came again with other bytes');

  const sent = relay.taken.map(({ source }) => /^Message-ID: (\S+)/im.exec(source)?.[1] ?? 'none');
  const doubtful = (messages ?? []).flatMap(({ unknown_at, message_id }) => (unknown_at ? [message_id as string] : []));
  const wanted = (messages ?? []).map(({ message_id }) => message_id as string);
  // A mail whose outcome is unknown is sent once more.
  const isStated = (id: string, index: number) => doubtful.includes(id) && sent.indexOf(id) !== index;
  same(
    'mails',
    sent.filter((id, index) => !isStated(id, index)),
    wanted,
  );
  const reminders = (messages ?? []).filter(({ kind }) => kind.startsWith('reminder'));
  same(
    'reminders',
    reminders.map(({ document }) => String(document.id)),
    journal.overdue,
  );

  breaches.push(...(await audits(parties)));
  return {
    breaches,
    mails: sent.length,
    repeatedMails: sent.length - new Set(sent).size,
    webhooks: calls.length,
    repeatedWebhooks: calls.length - new Set(calls.map(({ id }) => id)).size,
  };
}

/** True when all that the journeys caused has happened. */
async function isQuiet(
  journal: JourneyJournal,
  { receiver }: JourneyParties,
  all: (name: string) => Promise<Stored[]>,
): Promise<boolean> {
  const [runs, messages, events] = await Promise.all(['recurring_runs', 'messages', 'events'].map(all));
  const reminders = messages?.filter(({ kind }) => kind.startsWith('reminder')) ?? [];
  const overdue = events?.filter(({ type }) => type === 'invoice.overdue') ?? [];
  const delivered = new Set(receiver.received.map(({ id }) => id));
  return (
    (runs?.length ?? 0) >= journal.acknowledged.recurring_invoices.length &&
    Math.min(reminders.length, overdue.length) >= journal.overdue.length &&
    messages?.every(({ state }) => state === 'accepted') === true &&
    events?.every(({ _id }) => delivered.has(String(_id))) === true
  );
}

/** The numbers without a gap, and the totals that are kept beside the records. */
async function audits({ workspace, target }: JourneyParties): Promise<string[]> {
  const { body } = await sendRequest(target, { method: 'GET', path: '/api/v1/numbering/audit?limit=1' });
  const gaps = body.data.gapless ? [] : [`the numbers have gaps: ${JSON.stringify(body.data.kinds)}`];
  const env = { MONGODB_URI: workspace.mongodbUri, REDIS_URL: workspace.redisUrl, SECRET_KEY: workspace.secretKey };
  const { stdout, stderr } = await runAdmin(['doctor'], { ...env, REDIS_PREFIX: workspace.redisPrefix });
  const problems = `${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('problem'));
  return [...gaps, ...problems.map((line) => `the doctor says: ${line}`)];
}
