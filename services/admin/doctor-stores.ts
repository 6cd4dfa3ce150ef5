// Looks at MongoDB, Redis and the queues.
import { catalog } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { findMissingIndexes, MONGODB_LEAST_VERSION, readDatabaseState } from '#libs/models/database-state.ts';
import { Operator } from '#libs/models/operator.ts';
import { readOutbox } from '#libs/models/outbox.ts';
import { REDIS_LEAST_VERSION, readRedisState } from '#libs/redis-state.ts';
import { clockFinding, type Finding, finding, isAtLeast } from './finding.ts';

const MEMORY_SHARE_MAX = 0.6;
const NAMED_MAX = 5;
const WAIT_MAX_MS = 60_000;

export async function examineMongodb(): Promise<Finding[]> {
  const state = await readDatabaseState();
  const missing = await findMissingIndexes();
  const outbox = await readOutbox();
  return [
    finding(
      'MongoDB version',
      state.version,
      isAtLeast(state.version, MONGODB_LEAST_VERSION),
      `Upgrade to ${MONGODB_LEAST_VERSION} or later`,
    ),
    finding(
      'MongoDB replica set',
      state.replicaSet ? `${state.replicaSet}, ${state.members} member(s)` : 'none, a single server',
      state.replicaSet !== undefined,
      'Start mongod with --replSet and run rs.initiate(): every write is a transaction, which a single server refuses',
    ),
    finding(
      'MongoDB members',
      String(state.members),
      state.members >= 3,
      'Run three members: with fewer, the loss of one machine stops all writes',
      'warning',
    ),
    clockFinding('MongoDB clock', state.clockAheadMs),
    finding(
      'Indexes',
      missing.length === 0 ? 'all present' : missingText(missing),
      missing.length === 0,
      'Run "admin migrate"',
    ),
    finding(
      'Outbox',
      outbox.waiting === 0 ? 'nothing waits' : `${outbox.waiting} events wait, the oldest ${seconds(outbox.oldestMs)}`,
      outbox.oldestMs < WAIT_MAX_MS,
      'Look whether the webhook service runs: it turns events into deliveries',
    ),
    finding(
      'Operators',
      `${await Operator.countDocuments({ role: 'operator' })} who may act`,
      (await Operator.exists({ role: 'operator' })) !== null,
      'Make one with "admin operators create --name NAME --role operator": without one nobody can open the dashboard',
      'warning',
    ),
  ];
}

export async function examineRedis(queues: Queues): Promise<Finding[]> {
  const state = await readRedisState(queues.redis);
  const share = state.maxBytes > 0 ? state.usedBytes / state.maxBytes : 0;
  const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  return [
    finding(
      'Redis version',
      state.version,
      isAtLeast(state.version, REDIS_LEAST_VERSION),
      `Upgrade to ${REDIS_LEAST_VERSION} or later`,
    ),
    finding(
      'Redis maxmemory-policy',
      state.policy,
      state.policy === 'noeviction',
      'Set maxmemory-policy noeviction: with any other, a full Redis throws jobs away',
    ),
    finding(
      'Redis append-only file',
      state.isAppendOnly ? 'on' : 'off',
      state.isAppendOnly,
      'Set appendonly yes: without it a restart loses what is in the queues, and webhooks go out late',
      'warning',
    ),
    finding(
      'Redis memory',
      `${megabytes(state.usedBytes)} of ${state.maxBytes > 0 ? megabytes(state.maxBytes) : 'no limit'}`,
      share < MEMORY_SHARE_MAX,
      'Give Redis more memory, or find out why the queues are full: a full Redis refuses new jobs',
    ),
    clockFinding('Redis clock', state.clockAheadMs),
  ];
}

export async function examineQueues(queues: Queues): Promise<Finding[]> {
  const perQueue = await Promise.all(
    catalog.map(async (definition) => {
      const queue = queues.raw(definition);
      const [isPaused, workers, ageMs, counts] = await Promise.all([
        queue.isPaused(),
        queue.getWorkersCount(),
        queues.oldestAgeMs(definition),
        queues.counts(definition),
      ]);
      const check = `Queue ${definition.name}`;
      const found = `${isPaused ? 'PAUSED' : 'running'}, ${workers} worker(s), ${counts.ready} ready, oldest ${seconds(ageMs)}`;
      if (isPaused) return finding(check, found, false, `Resume it with "admin queues resume ${definition.name}"`);
      if (workers === 0) return finding(check, found, false, 'Start the service that works on it', 'warning');
      return finding(check, found, ageMs < WAIT_MAX_MS, 'Start more workers, or look in the dashboard what holds them');
    }),
  );
  return perQueue;
}

function missingText(missing: string[]): string {
  const rest = missing.length > NAMED_MAX ? `; and ${missing.length - NAMED_MAX} more` : '';
  return `missing: ${missing.slice(0, NAMED_MAX).join('; ')}${rest}`;
}

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
