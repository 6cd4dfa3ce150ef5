// The alarms at the top of the overview. Each names a problem and its consequence.
import { sumBy } from 'es-toolkit/math/sumBy';
import { renderDocument } from '#libs/jobs/catalog.ts';
import { DUE_COUNTED_MAX } from '#libs/models/billing/scheduler-backlog.ts';
import { MESSAGES_COUNTED_MAX } from '#libs/models/messages/mail-problems.ts';
import { BACKUP_OLD_MS, BACKUP_SERIOUS_MS, type BackupState } from '#libs/models/operations/backup-record.ts';
import { type BulkRecord, bulkStateOf } from '#libs/models/operations/bulk-run.ts';
import {
  DELIVERIES_COUNTED_MAX,
  ENDPOINTS_COUNTED_MAX,
  type FailingEndpoint,
  type SuspendedEndpoint,
} from '#libs/models/webhooks/delivery-problems.ts';
import { WAITING_COUNTED_MAX } from '#libs/models/webhooks/outbox.ts';
import { count, counted, countedUpTo, duration } from '#libs/pages/format.ts';
import { byVersion, versionsText } from '#libs/redis/processes.ts';
import type { RedisState } from '#libs/redis/state.ts';
import type { Numbers, QueueNumbers, ReadResult } from './numbers.ts';

export interface Alarm {
  tone: 'bad' | 'warn';
  text: string;
  /** The page on which to look or act. */
  href?: string;
}

/** The patience of callers: one waits 30 s for a document, none waits for the other queues. */
const PATIENCE_MS = { document: 5_000, other: 60_000 } as const;
/**
 * The patience for the scheduler. Reads show overdue and expired documents without it, and only the events are late.
 */
const SCHEDULER_PATIENCE_MS = 10 * 60_000;
/** A warning becomes an alarm after this many times the patience. */
const ALARM_FACTOR = 3;
/** The time whose failed requests are counted. Their number and share decide on the alarm. */
const FAILURES_WITHIN_MS = 10 * 60_000;
const FAILURES_LEAST = 5;
const FAILURES_SHARE = 0.01;
/** The share of its memory limit above which Redis soon rejects new jobs. */
const MEMORY_SHARE_MAX = 0.6;

export function alarmsOf(numbers: Numbers): Alarm[] {
  const { sampledSince, queues, workers, redis, requests, renders, outcomes, open, problems, outbox } = numbers;
  const { mail, scheduler, backup, processes, runs } = numbers;
  return [
    ...redisAlarms(redis),
    ...unread('The samples of queues', sampledSince),
    ...unread('The queues', queues),
    ...unread('The workers', workers),
    ...unread('Requests', requests),
    ...unread('Renders', renders),
    ...unread('Ended deliveries', outcomes),
    ...unread('Open deliveries', open),
    ...unread('Failing endpoints and late deliveries', problems),
    ...unread('The outbox', outbox),
    ...unread('Mail that waits', mail),
    ...unread('The dates that are due', scheduler),
    ...unread('The last backup', backup),
    ...unread('The versions of processes', processes),
    ...unread('Runs', runs),
    ...(queues.value ?? []).flatMap(queueAlarms),
    ...(queues.value && workers.value ? missingWorkers(queues.value, workers.value.workers) : []),
    ...requestAlarms(numbers),
    ...outboxAlarms(outbox),
    ...deliveryAlarms(problems),
    ...mailAlarms(mail),
    ...schedulerAlarms(scheduler),
    ...backupAlarms(backup),
    ...versionAlarms(processes),
    ...(runs.value ?? []).filter((run) => bulkStateOf(run) === 'interrupted').map(interruption),
  ];
}

/** Returns an alarm for a number that cannot be read, because it must not look like a good one. */
function unread(name: string, { problem }: ReadResult<unknown>): Alarm[] {
  return problem === undefined ? [] : [{ tone: 'bad', text: `${name} cannot be read (${problem}).` }];
}

function redisAlarms({ value: redis, problem }: Numbers['redis']): Alarm[] {
  if (problem !== undefined) {
    const text = `Redis is unavailable (${problem}). Records are safe; documents and webhooks wait for it.`;
    return [{ tone: 'bad', text }];
  }
  return redis.flatMap(serverAlarms);
}

function serverAlarms({ name, policy, isAppendOnly, maxBytes, usedBytes }: RedisState): Alarm[] {
  const alarms: Alarm[] = [];
  if (policy !== 'noeviction') {
    const text = `${name} may evict jobs: maxmemory-policy is ${policy}. Set it to noeviction.`;
    alarms.push({ tone: 'bad', text });
  }
  if (!isAppendOnly) {
    const text = `${name} keeps no append-only file: a restart loses the queues. Documents in flight fail, webhooks go out late.`;
    alarms.push({ tone: 'warn', text });
  }
  if (maxBytes > 0 && usedBytes > maxBytes * MEMORY_SHARE_MAX) {
    const share = Math.round((usedBytes / maxBytes) * 100);
    alarms.push({
      tone: 'bad',
      text: `${name} uses ${share} % of its memory limit. When it is full it rejects new jobs.`,
    });
  }
  return alarms;
}

function queueAlarms({ name, isPaused, ready, ageMs }: QueueNumbers): Alarm[] {
  const href = `/queues/${name}`;
  if (isPaused) return [{ tone: 'bad', text: `${name} is PAUSED. ${counted(ready, 'job waits', 'jobs wait')}.`, href }];
  const tone = urgencyOf(name, ageMs);
  if (!tone) return [];
  return [{ tone, text: `The oldest job of ${name} has waited ${duration(ageMs)}.`, href }];
}

/** Returns the urgency of the oldest job of a queue. */
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
      text: `No worker is connected to ${name}${ready > 0 ? `, and ${counted(ready, 'job waits', 'jobs wait')}` : ''}.`,
      href: `/queues/${name}`,
    }));
}

function requestAlarms({ requests, readAt }: Numbers): Alarm[] {
  const since = readAt.getTime() - FAILURES_WITHIN_MS;
  const steps = (requests.value?.steps ?? []).filter(({ at }) => at.getTime() >= since);
  const [all, failed] = [sumBy(steps, ({ requests }) => requests), sumBy(steps, ({ failed }) => failed)];
  if (failed < FAILURES_LEAST || failed < all * FAILURES_SHARE) return [];
  const text = `${count(failed)} of ${counted(all, 'request')} of the last ${duration(FAILURES_WITHIN_MS)} failed (5xx).`;
  return [{ tone: 'bad', text, href: '/requests?order=failed' }];
}

function outboxAlarms({ value: outbox }: Numbers['outbox']): Alarm[] {
  if (!outbox || outbox.oldestMs < PATIENCE_MS.other) return [];
  const events = countedUpTo(
    WAITING_COUNTED_MAX,
    outbox.waiting,
    'event waits for its webhooks',
    'events wait for their webhooks',
  );
  const text = `${events}, the oldest since ${duration(outbox.oldestMs)}.`;
  return [{ tone: outbox.oldestMs > PATIENCE_MS.other * ALARM_FACTOR ? 'bad' : 'warn', text }];
}

function deliveryAlarms({ value }: Numbers['problems']): Alarm[] {
  if (!value) return [];
  const { failing, suspended, old, overdue } = value;
  const alarms: Alarm[] = [];
  if (overdue.count > 0) {
    const due = countedUpTo(DELIVERIES_COUNTED_MAX, overdue.count, 'delivery is due', 'deliveries are due');
    const text = `${due}, and no webhook service has taken the oldest for ${duration(overdue.oldestMs)}.`;
    alarms.push({ tone: 'bad', text, href: '/deliveries?status=pending' });
  }
  alarms.push(...failing.named.map(failure), ...unnamed(failing, 'further endpoint fails', 'further endpoints fail'));
  alarms.push(...suspended.named.map(suspension));
  alarms.push(
    ...unnamed(suspended, 'further disabled endpoint has', 'further disabled endpoints have', ' suspended deliveries'),
  );
  if (old.count > 0) {
    const pending = countedUpTo(DELIVERIES_COUNTED_MAX, old.count, 'delivery has', 'deliveries have');
    const text = `${pending} been pending for over an hour, the oldest for ${duration(old.oldestMs)}.`;
    alarms.push({ tone: 'warn', text, href: '/deliveries?status=pending' });
  }
  return alarms;
}

function failure(endpoint: FailingEndpoint): Alarm {
  const { id, url, accountName, failures, failingMs, isSerious, isCircuitOpen, waiting } = endpoint;
  const times = counted(failures, 'time');
  const wait = `${deliveriesUpTo(waiting, 'waits', 'wait')}${isCircuitOpen ? ' (circuit breaker open)' : ''}`;
  const text = `${accountName}: ${url} has failed ${times} in a row for ${duration(failingMs)}; ${wait}.`;
  return { tone: isSerious ? 'bad' : 'warn', text, href: `/endpoints/${id}` };
}

function suspension({ id, url, accountName, reason, isIntended, waiting }: SuspendedEndpoint): Alarm {
  const text = `${accountName}: ${url} is disabled (${reason}); ${deliveriesUpTo(waiting, 'is', 'are')} suspended.`;
  // An account or an operator may pause an endpoint. Any other reason is a receiver that gets nothing any more.
  return { tone: isIntended ? 'warn' : 'bad', text, href: `/endpoints/${id}` };
}

const deliveriesUpTo = (value: number, one: string, many: string) =>
  countedUpTo(DELIVERIES_COUNTED_MAX, value, `delivery ${one}`, `deliveries ${many}`);

/** Returns an alarm for the endpoints that are counted and not named. */
function unnamed(
  { count: found, named }: { count: number; named: unknown[] },
  one: string,
  many: string,
  end = '',
): Alarm[] {
  const left = found - named.length;
  if (left <= 0) return [];
  const text = `${countedUpTo(ENDPOINTS_COUNTED_MAX - named.length, left, one, many)}${end}.`;
  return [{ tone: 'warn', text, href: '/failures' }];
}

function mailAlarms({ value }: Numbers['mail']): Alarm[] {
  if (!value) return [];
  const { overdue, refused } = value;
  const alarms: Alarm[] = [];
  if (overdue.count > 0) {
    const due = countedUpTo(MESSAGES_COUNTED_MAX, overdue.count, 'message is due', 'messages are due');
    const text = `${due}, and no mail service has taken the oldest for ${duration(overdue.oldestMs)}.`;
    alarms.push({ tone: 'bad', text, href: '/mail?state=waiting' });
  }
  if (refused.count > 0) {
    const messages = countedUpTo(MESSAGES_COUNTED_MAX, refused.count, 'message');
    const text = `The mail server has refused ${messages} at least twice. Its last answer: ${refused.answer}`;
    alarms.push({ tone: 'warn', text, href: '/mail?state=retrying&server=installation' });
  }
  return alarms;
}

function schedulerAlarms({ value: backlog }: Numbers['scheduler']): Alarm[] {
  if (!backlog || backlog.oldestMs < SCHEDULER_PATIENCE_MS) return [];
  const events = countedUpTo(DUE_COUNTED_MAX, backlog.due, 'scheduled task');
  const text = `The oldest of ${events} is ${duration(backlog.oldestMs)} late. Check that a scheduler runs and reaches MongoDB.`;
  return [{ tone: 'warn', text }];
}

function backupAlarms({ value: state }: Numbers['backup']): Alarm[] {
  const tone = state && urgencyOfBackup(state);
  if (!tone) return [];
  const age = duration(state.ageMs);
  const text = state.savedAt
    ? `The last recorded backup is ${age} old.`
    : `No backup was recorded since the first account was made, ${age} ago. The command "backup record" records one of another program.`;
  return [{ tone, text }];
}

/** Returns the urgency of a backup that is old or missing. */
export function urgencyOfBackup({ ageMs }: BackupState): 'bad' | 'warn' | undefined {
  if (ageMs > BACKUP_SERIOUS_MS) return 'bad';
  return ageMs > BACKUP_OLD_MS ? 'warn' : undefined;
}

function versionAlarms({ value: processes = [] }: Numbers['processes']): Alarm[] {
  if (byVersion(processes).length < 2) return [];
  const text = `Processes run different versions: ${versionsText(processes)}. A rollout is under way, or it left a process behind.`;
  return [{ tone: 'warn', text }];
}

function interruption({ _id, title, done, total }: BulkRecord): Alarm {
  const text = `A run was interrupted at ${count(done)} of ${count(total)}, and only an operator can continue it: ${title}`;
  return { tone: 'warn', text, href: `/bulk/${String(_id)}` };
}
