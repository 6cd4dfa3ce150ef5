// What an operator must know before anything else: each alarm says what is wrong and what follows from it.
import { renderDocument } from '#libs/jobs/catalog.ts';
import { type BulkRecord, bulkStateOf } from '#libs/models/operations/bulk-run.ts';
import { WAITING_COUNTED_MAX } from '#libs/models/webhooks/outbox.ts';
import { count, counted, countedUpTo, duration } from '../views/format.ts';
import type { Numbers, Part, QueueNumbers } from './numbers.ts';

export interface Alarm {
  tone: 'bad' | 'warn';
  text: string;
  /** Where to look or act. */
  href?: string;
}

/** A caller waits 30 s for a document; nobody waits for the other queues. */
const PATIENCE_MS = { document: 5_000, other: 60_000 } as const;
/** How much longer than patience turns a warning into an alarm. */
const ALARM_FACTOR = 3;
/** Above this share of its limit Redis soon refuses new jobs. */
const MEMORY_SHARE_MAX = 0.6;

export function alarmsOf(numbers: Numbers): Alarm[] {
  const { queues, workers, redis, renders, outcomes, open, outbox, runs } = numbers;
  return [
    ...redisAlarms(redis),
    ...unread('The queues', queues),
    ...unread('The workers', workers),
    ...unread('Renders', renders),
    ...unread('Ended deliveries', outcomes),
    ...unread('Open deliveries', open),
    ...unread('The outbox', outbox),
    ...unread('Runs', runs),
    ...(queues.value ?? []).flatMap(queueAlarms),
    ...(queues.value && workers.value ? missingWorkers(queues.value, workers.value.workers) : []),
    ...outboxAlarms(outbox),
    ...(runs.value ?? []).filter((run) => bulkStateOf(run) === 'interrupted').map(interruption),
  ];
}

/** What is unknown must not look as if it were well. */
function unread(name: string, { problem }: Part<unknown>): Alarm[] {
  return problem === undefined ? [] : [{ tone: 'bad', text: `${name} cannot be read (${problem}).` }];
}

function redisAlarms({ value: redis, problem }: Numbers['redis']): Alarm[] {
  if (problem !== undefined) {
    const text = `Redis does not answer (${problem}). Records are safe; documents and webhooks wait until it is back.`;
    return [{ tone: 'bad', text }];
  }
  const alarms: Alarm[] = [];
  if (redis.policy !== 'noeviction') {
    const text = `Redis may throw jobs away: maxmemory-policy is ${redis.policy}. Set it to noeviction.`;
    alarms.push({ tone: 'bad', text });
  }
  if (!redis.isAppendOnly) {
    const text =
      'Redis keeps no append-only file: a restart loses the queues. Documents in work fail, webhooks go out late.';
    alarms.push({ tone: 'warn', text });
  }
  if (redis.maxBytes > 0 && redis.usedBytes > redis.maxBytes * MEMORY_SHARE_MAX) {
    const share = Math.round((redis.usedBytes / redis.maxBytes) * 100);
    alarms.push({
      tone: 'bad',
      text: `Redis uses ${share} % of its memory limit. When it is full it refuses new jobs.`,
    });
  }
  return alarms;
}

function queueAlarms({ name, isPaused, ready, ageMs }: QueueNumbers): Alarm[] {
  const href = `/queues/${name}`;
  if (isPaused) return [{ tone: 'bad', text: `${name} is PAUSED. ${counted(ready, 'job')} wait.`, href }];
  const tone = urgencyOf(name, ageMs);
  if (!tone) return [];
  return [{ tone, text: `The oldest job of ${name} has waited ${duration(ageMs)}.`, href }];
}

/** How bad it is that a job of this queue has waited so long. */
export function urgencyOf(queue: string, ageMs: number): 'bad' | 'warn' | undefined {
  const patienceMs = queue === renderDocument.name ? PATIENCE_MS.document : PATIENCE_MS.other;
  if (ageMs > patienceMs * ALARM_FACTOR) return 'bad';
  return ageMs > patienceMs ? 'warn' : undefined;
}

function missingWorkers(queues: QueueNumbers[], workers: { queue: string }[]): Alarm[] {
  const served = new Set(workers.map(({ queue }) => queue));
  return queues
    .filter(({ name }) => !served.has(name))
    .map(({ name, ready }) => ({
      tone: ready > 0 ? ('bad' as const) : ('warn' as const),
      text: `No worker is connected to ${name}${ready > 0 ? `, and ${counted(ready, 'job')} wait` : ''}.`,
      href: `/queues/${name}`,
    }));
}

function outboxAlarms({ value: outbox }: Numbers['outbox']): Alarm[] {
  if (!outbox || outbox.oldestMs < PATIENCE_MS.other) return [];
  const text = `${countedUpTo(WAITING_COUNTED_MAX, outbox.waiting, 'event')} wait for their webhooks, the oldest since ${duration(outbox.oldestMs)}.`;
  return [{ tone: outbox.oldestMs > PATIENCE_MS.other * ALARM_FACTOR ? 'bad' : 'warn', text }];
}

function interruption({ _id, title, done, total }: BulkRecord): Alarm {
  const text = `A run was interrupted at ${count(done)} of ${count(total)}, and nothing but an operator continues it: ${title}`;
  return { tone: 'warn', text, href: `/bulk/${String(_id)}` };
}
