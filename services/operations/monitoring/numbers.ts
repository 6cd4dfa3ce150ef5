// Reads everything that the overview shows at once. A part that cannot be read shows its problem, and the others
// appear.
import type { VNode } from 'preact';
import { errorText } from '#libs/errors.ts';
import { catalog } from '#libs/jobs/catalog.ts';
import { type ActiveJob, readWorkers, type WorkerReading } from '#libs/jobs/control.ts';
import type { QueueCounts, Queues } from '#libs/jobs/queue.ts';
import { readSchedulerBacklog, type SchedulerBacklog } from '#libs/models/billing/scheduler-backlog.ts';
import { type MailProblems, readMailProblems } from '#libs/models/messages/mail-problems.ts';
import { type BackupState, readBackupState } from '#libs/models/operations/backup-record.ts';
import { type BulkRecord, BulkRun } from '#libs/models/operations/bulk-run.ts';
import { findFirstSample, findSamples, type QueueSampleRecord } from '#libs/models/operations/queue-sample.ts';
import { type DeliveryProblems, readDeliveryProblems } from '#libs/models/webhooks/delivery-problems.ts';
import { type OutboxState, readOutbox } from '#libs/models/webhooks/outbox.ts';
import { note } from '#libs/pages/parts.ts';
import { type RunningProcess, readProcesses } from '#libs/redis/processes.ts';
import { type RedisState, readRedisStates } from '#libs/redis/state.ts';
import { countOpenDeliveries, findOutcomes, type OutcomeMinute } from '../store/delivery-outcomes.ts';
import { findRenderSpeed, type RenderSpeed } from '../store/render-search.ts';
import { type RequestReading, readRequestSteps } from '../store/request-figures.ts';
import { type ChartWindow, windowSince } from '../views/charts.ts';

const CHART_MINUTES = 60;
const MINUTE_MS = 60_000;
/** The number at which the count of open deliveries stops. */
export const COUNTED_MAX = 100_000;

export type ReadResult<Value> = { value: Value; problem?: undefined } | { value?: undefined; problem: string };

export interface QueueNumbers extends QueueCounts {
  name: string;
  ageMs: number;
  isPaused: boolean;
  /** The samples of the last hour. */
  samples: QueueSampleRecord[];
}

export interface Numbers {
  readAt: Date;
  /** The first minute of the last hour in which a dashboard ran. */
  sampledSince: ReadResult<Date | undefined>;
  queues: ReadResult<QueueNumbers[]>;
  workers: ReadResult<{ workers: WorkerReading[]; orphans: ActiveJob[] }>;
  redis: ReadResult<RedisState[]>;
  requests: ReadResult<Pick<RequestReading, 'steps' | 'total'>>;
  renders: ReadResult<RenderSpeed>;
  outcomes: ReadResult<OutcomeMinute[]>;
  open: ReadResult<Awaited<ReturnType<typeof countOpenDeliveries>>>;
  problems: ReadResult<DeliveryProblems>;
  outbox: ReadResult<OutboxState>;
  mail: ReadResult<MailProblems>;
  scheduler: ReadResult<SchedulerBacklog>;
  backup: ReadResult<BackupState>;
  processes: ReadResult<RunningProcess[]>;
  /** Unfinished runs. Interrupted ones are among them, because their records still have the state `running`. */
  runs: ReadResult<BulkRecord[]>;
}

export async function readNumbers(queues: Queues): Promise<Numbers> {
  const readAt = new Date();
  const since = new Date(readAt.getTime() - (CHART_MINUTES + 1) * MINUTE_MS);
  const readings = await allOf({
    sampledSince: part(findFirstSample(since)),
    queues: part(Promise.all(catalog.map(({ name }) => readQueue(queues, name, since)))),
    workers: part(readWorkers(queues)),
    redis: part(readRedisStates(queues.redis)),
    requests: part(readRequestSteps('minute', since)),
    renders: part(findRenderSpeed(since)),
    outcomes: part(findOutcomes(since)),
    open: part(countOpenDeliveries(COUNTED_MAX)),
    problems: part(readDeliveryProblems()),
    outbox: part(readOutbox(readAt)),
    mail: part(readMailProblems()),
    scheduler: part(readSchedulerBacklog(readAt)),
    backup: part(readBackupState(readAt)),
    processes: part(readProcesses(queues.redis, queues.prefix)),
    runs: part(BulkRun.find({ state: 'running' }).sort({ created_at: -1 }).limit(5).lean<BulkRecord[]>()),
  });
  return { readAt, ...readings };
}

/** Waits for promises by name. */
async function allOf<Waiting extends Record<string, Promise<unknown>>>(waiting: Waiting) {
  const values = await Promise.all(Object.entries(waiting).map(async ([name, value]) => [name, await value] as const));
  return Object.fromEntries(values) as { [Name in keyof Waiting]: Awaited<Waiting[Name]> };
}

/** Returns the minutes that a chart of the overview shows. @param points those of the chart. */
export function chartWindow({ sampledSince }: Numbers, points: readonly { at: Date }[] = []): ChartWindow {
  return windowSince([sampledSince.value, ...points.map(({ at }) => at)], CHART_MINUTES);
}

export async function readQueue(queues: Queues, name: string, since: Date): Promise<QueueNumbers> {
  const definition = catalog.find((each) => each.name === name);
  if (!definition) throw new Error(`there is no queue ${name}`);
  const [counts, ageMs, isPaused, samples] = await Promise.all([
    queues.counts(definition),
    queues.oldestAgeMs(definition),
    queues.raw(definition).isPaused(),
    findSamples(name, since),
  ]);
  return { name, ...counts, ageMs, isPaused, samples };
}

export async function part<Value>(reading: Promise<Value>): Promise<ReadResult<Value>> {
  try {
    return { value: await reading };
  } catch (error) {
    return { problem: errorText(error) };
  }
}

/** Returns the part as `show` draws it, or a note with the problem of reading it. */
export function shown<Value>({ value, problem }: ReadResult<Value>, show: (value: Value) => VNode): VNode {
  return problem === undefined ? show(value as Value) : note('bad', `This cannot be read now: ${problem}`);
}
