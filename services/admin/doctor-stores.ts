// Checks MongoDB, Redis and the queues.
import type { AuditProblem } from '#libs/billing/audits/audit.ts';
import { auditBilledOnce } from '#libs/billing/audits/billed-once-audit.ts';
import { auditLedger } from '#libs/billing/audits/ledger-audit.ts';
import { auditTimeTotals } from '#libs/billing/audits/time-totals-audit.ts';
import { auditTimers } from '#libs/billing/audits/timer-audit.ts';
import { catalog } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { Operator } from '#libs/models/operations/operator.ts';
import { type OutboxState, readOutbox } from '#libs/models/webhooks/outbox.ts';
import { failsOver } from '#libs/redis/connection.ts';
import { REDIS_MIN_VERSION, type RedisState, readRedisStates } from '#libs/redis/state.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { clockFinding, type Finding, finding, isAtLeast, orProblem } from './check-result.ts';
import { knownHoles } from './known-holes.ts';
import {
  type DatabaseState,
  findMissingIndexes,
  MONGODB_LEAST_VERSION,
  readDatabaseState,
} from './store/database-state.ts';
import { countSecretsByKey } from './store/sealed-secrets.ts';
import { type AccountStorage, readStorage } from './store/storage.ts';

const MEMORY_SHARE_MAX = 0.6;
/** The share of its quota from which on an account counts as nearly full. Its writes are soon rejected. */
const QUOTA_SHARE_MAX = 0.8;
const NAMED_MAX = 5;
const WAIT_MAX_MS = 60_000;
const OUT_OF_REACH =
  'Out of reach: it listens on no port, and on a socket that no other user can open; callers of the API can send it no commands of their own';

/** Facts about a store that it does not tell itself. */
export interface StoreFacts {
  /** `npm start` runs it on a socket that only the user who started it can open. */
  isPrivate: boolean;
}

/** Runs each check by itself, so that one that cannot be made hides no other. */
export async function examineMongodb(facts: StoreFacts = { isPrivate: false }): Promise<Finding[]> {
  const checks: [check: string, examine: () => Promise<Finding[]>][] = [
    ['MongoDB state', () => examineDatabase(facts)],
    ['Indexes', async () => [indexFinding(await findMissingIndexes())]],
    ['Outbox', async () => [outboxFinding(await readOutbox())]],
    ...AUDITS.map(({ check, audit, ...texts }): (typeof checks)[number] => [
      check,
      async () => [auditFinding(check, await audit(), texts)],
    ]),
    ['Operators', examineOperators],
  ];
  const findings: Finding[] = [];
  for (const [check, examine] of checks) findings.push(...(await orProblem(check, examine)));
  return findings;
}

async function examineDatabase({ isPrivate }: StoreFacts): Promise<Finding[]> {
  const state = await readDatabaseState();
  return [
    finding(
      'MongoDB version',
      state.version,
      isAtLeast(state.version, MONGODB_LEAST_VERSION),
      `Upgrade to ${MONGODB_LEAST_VERSION} or later`,
    ),
    holeFinding('mongodb', { name: 'MongoDB', version: state.version, isPrivate }),
    ...versionFindings(state),
    finding(
      'MongoDB replica set',
      state.replicaSet ? `${state.replicaSet}, ${state.members} member(s)` : noSetText(state),
      state.replicaSet !== undefined || state.isSharded,
      'Start mongod with --replSet and run rs.initiate(): every write is a transaction, which a standalone server rejects',
    ),
    finding(
      'MongoDB members',
      state.isSharded
        ? 'unknown behind a router'
        : isPrivate
          ? `${state.members}, as npm start runs it`
          : String(state.members),
      isPrivate || state.isSharded || state.members >= 3,
      'Run three members: with fewer, the loss of one machine stops all writes',
      'warning',
    ),
    ...memberFindings(state.unhealthyMembers),
    clockFinding('MongoDB clock', state.clockAheadMs),
  ];
}

function noSetText({ isSharded }: DatabaseState): string {
  return isSharded ? 'a sharded cluster' : 'none, a single server';
}

/** Names the versions of members that differ from that of the primary. A single server has no others. */
function versionFindings({ version, otherVersions }: DatabaseState): Finding[] {
  if (otherVersions.size === 0) return [];
  const different = [...otherVersions].filter(([, other]) => other !== version);
  const found =
    different.length > 0
      ? `primary ${version}, ${different.map(([host, other]) => `${host} ${other}`).join(', ')}`
      : `${version} on all ${otherVersions.size + 1} members`;
  const advice = 'Finish the upgrade: after an election the system runs on another version';
  return [finding('MongoDB versions', found, different.length === 0, advice, 'warning')];
}

function indexFinding(missing: string[]): Finding {
  const isComplete = missing.length === 0;
  return finding('Indexes', isComplete ? 'all present' : missingText(missing), isComplete, 'Run "admin migrate"');
}

function outboxFinding({ waiting, oldestMs }: OutboxState): Finding {
  return finding(
    'Outbox',
    waiting === 0 ? 'nothing waits' : `${waiting} event(s), the oldest ${seconds(oldestMs)}`,
    oldestMs < WAIT_MAX_MS,
    'Check that the webhook service runs: it turns events into deliveries',
  );
}

const AUDITS = [
  {
    check: 'Payments ledger',
    audit: auditLedger,
    sound: 'every sum holds',
    advice: 'Compare with a backup: what is due does not follow from payments and credit notes',
  },
  {
    check: 'Billed time and quotes',
    audit: auditBilledOnce,
    sound: 'each is billed once',
    advice: 'Compare with a backup: an invoice and what it bills do not agree',
  },
  {
    check: 'Timers',
    audit: auditTimers,
    sound: 'one per owner at most, and every stopped one has its entry',
    advice: 'Compare with a backup: time that was measured is missing or doubled',
  },
  {
    check: 'Totals of time',
    audit: auditTimeTotals,
    sound: 'those of tasks and projects are what their entries add up to',
    advice: 'Run "admin accounts recount [account-id]": budgets are measured with them',
  },
];

async function examineOperators(): Promise<Finding[]> {
  const count = await Operator.countDocuments({ role: 'operator' });
  return [
    finding(
      'Operators',
      `${count} who may act`,
      count > 0,
      'Make one with "admin operators create --name NAME --role operator": it is needed to open the dashboard',
      'warning',
    ),
  ];
}

function auditFinding(
  check: string,
  problems: readonly AuditProblem[],
  { sound, advice }: { sound: string; advice: string },
): Finding {
  const isSound = problems.length === 0;
  return finding(check, isSound ? sound : problemsText(problems), isSound, advice);
}

function holeFinding(
  store: 'mongodb' | 'redis' | 'valkey',
  { name, version, isPrivate }: { name: string; version: string } & StoreFacts,
): Finding {
  const holes = knownHoles(store, version);
  const found = holes.length > 0 ? `${version} has ${holes.join(' and ')}` : `none known in ${version}`;
  if (holes.length > 0 && isPrivate)
    return { status: 'ok', check: `${name} security`, found: `${found}. ${OUT_OF_REACH}` };
  const advice =
    'Upgrade to the newest patch of its line, unless your distribution has fixed it under the same version';
  return finding(`${name} security`, found, holes.length === 0, advice, 'warning');
}

/** Reports lost members. One goes unnoticed until the next one fails. */
function memberFindings(unhealthy: string[] | undefined): Finding[] {
  if (unhealthy === undefined) return [];
  const found = unhealthy.length === 0 ? 'all members take part' : `unavailable: ${unhealthy.join(', ')}`;
  const advice = 'Restore them: until then the loss of one more member may stop all writes';
  return [finding('MongoDB health', found, unhealthy.length === 0, advice, 'warning')];
}

/**
 * Examines the storage of accounts.
 * @param quotaMegabytes ACCOUNT_STORAGE_MEGABYTES as it is set here. 0 means no limit.
 */
export async function examineStorage(quotaMegabytes: number): Promise<Finding[]> {
  const accounts = await readStorage();
  const sizeOf = ({ recordBytes }: AccountStorage) => Math.round(recordBytes / 2 ** 20);
  const [largest] = accounts.toSorted((one, other) => other.recordBytes - one.recordBytes);
  const full = accounts.filter((one) => quotaMegabytes > 0 && sizeOf(one) >= quotaMegabytes * QUOTA_SHARE_MAX);
  const names = full.slice(0, NAMED_MAX).map((one) => `${one.id} ${sizeOf(one)} MiB`);
  const quota = quotaMegabytes > 0 ? `${quotaMegabytes} MiB` : 'no limit';
  const found =
    full.length > 0
      ? `${full.length} account(s) near the quota of ${quota}: ${names.join('; ')}`
      : `${accounts.length} account(s), the largest ${largest ? sizeOf(largest) : 0} MiB, quota ${quota}`;
  const advice = 'Raise ACCOUNT_STORAGE_MEGABYTES of the gateways, or ask the account: at its quota changes are 409';
  return [finding('Storage of accounts', found, full.length === 0, advice, 'warning')];
}

/** Examines webhook secrets. @param keys SECRET_KEY, where it is known. If it is not, the secrets cannot be checked. */
export async function examineSecrets(keys: string | undefined): Promise<Finding[]> {
  const check = 'Webhook secrets';
  const counts = await countSecretsByKey();
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (keys === undefined) return [{ status: 'unknown', check, found: `${total}, SECRET_KEY is not set here` }];
  const [first = '', ...others] = openSecretBox(keys).keyIds;
  const lost = [...counts.keys()].filter((id) => id !== first && !others.includes(id));
  if (lost.length > 0) {
    const found = `${sumOf(counts, lost)} of ${total} can be read with no key of SECRET_KEY (sealed with ${lost.join(', ')})`;
    const advice =
      'Put the key they were sealed with back at the end of SECRET_KEY, of every gateway, webhook service, mail service and portal';
    return [{ status: 'problem', check, found, advice }];
  }
  const used = others.filter((id) => counts.has(id));
  if (used.length > 0) {
    const found = `${sumOf(counts, used)} of ${total} are sealed with another key than the first (${used.join(', ')})`;
    const advice = 'Run "admin webhooks reseal"; until then these keys must stay in SECRET_KEY';
    return [{ status: 'warning', check, found, advice }];
  }
  // The finding does not name a key to remove: the first may be the old one, with its successor behind it.
  const rest = others.length > 0 ? `; none with ${others.join(', ')}` : '';
  return [{ status: 'ok', check, found: `${total}, all sealed with the first key (${first})${rest}` }];
}

const sumOf = (counts: Map<string, number>, ids: string[]) => ids.reduce((sum, id) => sum + (counts.get(id) ?? 0), 0);

export async function examineRedis(queues: Queues, facts: StoreFacts): Promise<Finding[]> {
  const states = await readRedisStates(queues.redis);
  return [...states.flatMap((state) => serverFindings(state, facts)), ...replicaFindings(queues, states)];
}

function serverFindings(state: RedisState, { isPrivate }: StoreFacts): Finding[] {
  const { name } = state;
  const share = state.maxBytes > 0 ? state.usedBytes / state.maxBytes : 0;
  const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  return [
    finding(
      `${name} version`,
      state.version,
      isAtLeast(state.version, REDIS_MIN_VERSION),
      `Upgrade to ${REDIS_MIN_VERSION} or later`,
    ),
    holeFinding(state.isValkey ? 'valkey' : 'redis', {
      name: state.isValkey ? name.replace('Redis', 'Valkey') : name,
      version: state.serverVersion,
      isPrivate,
    }),
    finding(
      `${name} maxmemory-policy`,
      state.policy,
      state.policy === 'noeviction',
      'Set maxmemory-policy noeviction: with any other, a full Redis deletes jobs',
    ),
    finding(
      `${name} append-only file`,
      state.isAppendOnly ? 'on' : 'off',
      state.isAppendOnly,
      'Set appendonly yes: without it a restart loses what is in the queues, and webhooks go out late',
      'warning',
    ),
    finding(
      `${name} memory`,
      `${megabytes(state.usedBytes)} of ${state.maxBytes > 0 ? megabytes(state.maxBytes) : 'no limit'}`,
      share < MEMORY_SHARE_MAX,
      'Give Redis more memory, or find out why the queues are full: a full Redis rejects new jobs',
    ),
    clockFinding(`${name} clock`, state.clockAheadMs),
  ];
}

/** Reports primaries without a replica, where Sentinel or a cluster should replace a lost one. A single Redis has none. */
function replicaFindings({ redis }: Queues, states: RedisState[]): Finding[] {
  if (!failsOver(redis)) return [];
  const primaries = states.filter(({ isPrimary }) => isPrimary);
  const alone = primaries.filter(({ replicas }) => replicas === 0).map(({ name }) => name);
  const sum = primaries.reduce((total, { replicas }) => total + replicas, 0);
  const found = alone.length > 0 ? `none of ${alone.join(', ')}` : `${sum} of ${primaries.length} primary server(s)`;
  const advice = 'Add a replica: until then the loss of this server stops documents and webhooks until it is back';
  return [finding('Redis replicas', found, alone.length === 0, advice, 'warning')];
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
      if (workers === 0) return finding(check, found, false, 'Start the service that processes it', 'warning');
      return finding(
        check,
        found,
        ageMs < WAIT_MAX_MS,
        'Start more workers, or check in the dashboard what blocks them',
      );
    }),
  );
  return perQueue;
}

function missingText(missing: string[]): string {
  const rest = missing.length > NAMED_MAX ? `; and ${missing.length - NAMED_MAX} more` : '';
  return `missing: ${missing.slice(0, NAMED_MAX).join('; ')}${rest}`;
}

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;

function problemsText(problems: readonly AuditProblem[]): string {
  const named = problems
    .slice(0, NAMED_MAX)
    .map(({ account_id, id, problem }) => `${problem} (${id}, account ${account_id})`);
  return named.join('; ');
}
