// O3: every committed change is announced once, and every announcement reached every endpoint that wants it, signed and unchanged.
import { Webhook } from 'standardwebhooks';
import { eventually } from '../../eventually.ts';
import type { Received } from '../../receiver.ts';
import type { MarkedAccount, MarkedEndpoint } from '../load/accounts.ts';
import { foreignMarks } from '../load/marks.ts';
import type { RoundFacts } from '../round-facts.ts';
import { allOf } from './oracle-records.ts';

interface StoredEvent {
  id: string;
  type: string;
  body: string;
  sequence: number;
}

/** Retries, leases and the lock of a job whose process was killed, one after the other, on a busy machine. */
const ARRIVAL_LIMIT_MS = 180_000;
/** Attempts of one process in flight to one endpoint when it is killed. */
const IN_FLIGHT_MAX = 5;
/** The most missing events of which a breach tells the stored records. */
const TOLD_MAX = 5;
/** Longer than an attempt may last. */
const NOTED_LIMIT_MS = 30_000;
/** The clock difference that receivers allow, by the standard. */
const TIMESTAMP_TOLERANCE_MS = 5 * 60_000;
const CREATED: Record<string, string> = {
  clients: 'client.created',
  projects: 'project.created',
  tasks: 'task.created',
  time_entries: 'time_entry.created',
  quotes: 'quote.created',
  invoices: 'invoice.created',
};

/** @returns how many webhooks came twice. */
export async function judgeEvents(facts: RoundFacts): Promise<number> {
  let twice = 0;
  for (const account of facts.accounts) {
    const stored = await eventsOf(account);
    judgeOutbox(facts, account, stored);
    await judgeAnnouncements(facts, account, stored);
    for (const endpoint of account.endpoints) {
      if (endpoint.behaviour === 'sick') await judgeSick(facts, account, endpoint, stored);
      else twice += await judgeEndpoint(facts, account, endpoint, stored);
    }
  }
  return twice;
}

async function eventsOf(account: MarkedAccount): Promise<StoredEvent[]> {
  const events = await allOf('events', account.id);
  return events.map((event) => ({
    id: String(event._id),
    type: String(event['type']),
    body: String(event['body']),
    sequence: Number(event['sequence']),
  }));
}

function judgeOutbox({ journal }: RoundFacts, account: MarkedAccount, stored: readonly StoredEvent[]) {
  const sequences = stored.map(({ sequence }) => sequence).toSorted((one, other) => one - other);
  if (sequences.some((sequence, index) => sequence !== index + 1)) {
    journal.breach('O3', `the events of ${account.mark} have the sequences ${sequences.join(' ')}`);
  }
}

async function judgeAnnouncements({ journal }: RoundFacts, account: MarkedAccount, stored: readonly StoredEvent[]) {
  const announced = new Map<string, number>();
  for (const { type, body } of stored) {
    if (!type.endsWith('.created')) continue;
    const name = `${type} ${JSON.parse(body).data.id}`;
    announced.set(name, (announced.get(name) ?? 0) + 1);
  }
  for (const [collection, type] of Object.entries(CREATED)) {
    for (const { _id } of await allOf(collection, account.id)) {
      const times = announced.get(`${type} ${String(_id)}`) ?? 0;
      if (times !== 1) journal.breach('O3', `${type} of ${String(_id)} was announced ${times} times`);
    }
  }
}

const wants = ({ events }: MarkedEndpoint, type: string) =>
  events.some(
    (wanted) => wanted === '*' || wanted === type || (wanted.endsWith('.*') && type.startsWith(wanted.slice(0, -1))),
  );

async function judgeEndpoint(
  { system, journal, webhookKills, mayForgetAttempts }: RoundFacts,
  account: MarkedAccount,
  endpoint: MarkedEndpoint,
  stored: readonly StoredEvent[],
): Promise<number> {
  const due = new Map(stored.filter(({ type }) => wants(endpoint, type)).map((event) => [event.id, event.body]));
  const calls = () => system.town.taken.get(endpoint.path) ?? [];
  const missing = () => {
    const came = new Set(calls().map(({ id }) => id));
    return [...due.keys()].filter((id) => !came.has(id));
  };
  await eventually(() => missing().length === 0, ARRIVAL_LIMIT_MS).catch(async () => {
    const late = missing();
    const stored = await deliveriesOf(account, endpoint, late.slice(0, TOLD_MAX));
    journal.breach('O3', `${late.length} of ${due.size} events never came to ${endpoint.path}: ${stored}`);
  });

  const times = new Map<string, number>();
  const signature = new Webhook(endpoint.secret);
  for (const call of calls()) {
    times.set(call.id, (times.get(call.id) ?? 0) + 1);
    if (due.get(call.id) !== call.body) journal.breach('O3', `${call.id} came to ${endpoint.path} with another body`);
    if (!isSigned(signature, call)) journal.breach('O3', `${call.id} came to ${endpoint.path} badly signed`);
    const foreign = foreignMarks(call.body, account.mark);
    if (foreign.length > 0) journal.breach('O8', `a webhook to ${account.mark} holds ${foreign.join(', ')}`);
  }
  const twice = [...times.values()].reduce((sum, count) => sum + count - 1, 0);
  let unexplained = 0;
  // A call is written down after it was made, and a majority has that a moment later.
  await eventually(async () => {
    const known = await attemptsAt(account, endpoint);
    unexplained = [...times].reduce((sum, [id, count]) => sum + Math.max(0, count - (known.get(id) ?? 0)), 0);
    return unexplained <= webhookKills * IN_FLIGHT_MAX || mayForgetAttempts;
  }, NOTED_LIMIT_MS).catch(() => {
    journal.breach('O3', `${unexplained} calls to ${endpoint.path} without a cause, after ${webhookKills} kills`);
  });
  return twice;
}

/** True when the signature was right on arrival. The library would compare its timestamp with the time of this check. */
export function isSigned(signature: Webhook, { id, headers, body, at }: Received): boolean {
  const sentAt = new Date(Number(headers['webhook-timestamp']) * 1_000);
  const isTimely = Math.abs(at - sentAt.getTime()) < TIMESTAMP_TOLERANCE_MS;
  return (
    isTimely &&
    String(headers['webhook-signature'])
      .split(' ')
      .includes(signature.sign(id, sentAt, body))
  );
}

/** Says what is stored of each, because a delivery that is late is another fault than one that is lost. */
async function deliveriesOf(account: MarkedAccount, endpoint: MarkedEndpoint, eventIds: string[]): Promise<string> {
  const now = new Date().toISOString();
  const deliveries = await allOf('deliveries', account.id);
  const tries = await allOf('round_tries', account.id);
  const told = eventIds.map((id) => {
    const delivery = deliveries.find(
      (one) => String(one['event_id']) === id && String(one['endpoint_id']) === endpoint.id,
    );
    const counted = tries.filter((one) => [id, String(delivery?._id)].includes(String(one['record_id'])));
    return JSON.stringify({ event: id, delivery, tries: counted });
  });
  return `at ${now} ${told.join(' ')}`;
}

/** How often each event was sent, as far as the service knows: an answer that came too late for it is sent for again. */
async function attemptsAt(account: MarkedAccount, endpoint: MarkedEndpoint): Promise<Map<string, number>> {
  const deliveries = await allOf('deliveries', account.id);
  const own = deliveries.filter(({ endpoint_id }) => String(endpoint_id) === endpoint.id);
  return new Map(own.map(({ event_id, attempts }) => [String(event_id), (attempts as unknown[]).length]));
}

/** Nothing is dropped for an endpoint that refused: every event has its delivery, made or still to be made. */
async function judgeSick(
  { journal }: RoundFacts,
  account: MarkedAccount,
  endpoint: MarkedEndpoint,
  stored: readonly StoredEvent[],
) {
  const due = stored.filter(({ type }) => wants(endpoint, type));
  const waiting = async () => {
    const deliveries = await allOf('deliveries', account.id);
    const own = deliveries.filter(({ endpoint_id }) => String(endpoint_id) === endpoint.id);
    const kept = new Set(
      own
        .filter(({ status }) => status === 'pending' || status === 'delivered')
        .map(({ event_id }) => String(event_id)),
    );
    return due.filter(({ id }) => !kept.has(id)).length;
  };
  await eventually(async () => (await waiting()) === 0, ARRIVAL_LIMIT_MS).catch(async () => {
    journal.breach('O3', `${await waiting()} of ${due.length} events wait nowhere for ${endpoint.path}`);
  });
}
