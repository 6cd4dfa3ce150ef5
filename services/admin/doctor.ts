// `admin doctor` checks everything that the system depends on, and reports each problem with the next step.
import { errorText } from '#libs/errors.ts';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { connectMongo } from '#libs/mongo/connection.ts';
import { whenReady } from '#libs/redis/connection.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { type Finding, orProblem } from './check-result.ts';
import { findAddresses, type Target } from './connection.ts';
import { examineBackup } from './doctor-backup.ts';
import { examineDeliveries } from './doctor-deliveries.ts';
import { examineChromium, examineConfig, examineNode } from './doctor-machine.ts';
import { examineMail } from './doctor-mail.ts';
import { examineService, examineVersions } from './doctor-service.ts';
import { examineSetAside } from './doctor-set-aside.ts';
import {
  examineMongodb,
  examineQueues,
  examineRedis,
  examineSecrets,
  examineStorage,
  type StoreFacts,
} from './doctor-stores.ts';
import { examineTotals } from './doctor-totals.ts';
import { keptSecretKey } from './endpoints.ts';
import { readUsableSettings } from './settings.ts';

const CONNECT_LIMIT_MS = 5_000;
const log = () => makeLogger('admin', 'silent');

/**
 * Examines the system.
 * @param env of this process. Components that it does not name are `unknown`.
 * @param services URLs of health ports. Those of a system that runs here are known.
 */
export async function examine(env: NodeJS.ProcessEnv, target: Target, services: string[]): Promise<Finding[]> {
  const addresses = await findAddresses(target);
  const { local } = addresses;
  const urls = [...Object.values(local?.healthUrls ?? {}), ...services];
  const secretKey = await secretKeyFor(env, target);
  return [
    ...examineConfig(env, local && secretKey ? target.dataFolder : undefined),
    ...examineNode(),
    ...(await mongodbFindings(addresses.mongodbUri, {
      secretKey,
      isPrivate: local !== undefined && isSocket(addresses.mongodbUri),
      quotaMegabytes: readUsableSettings(env).ACCOUNT_STORAGE_MEGABYTES,
    })),
    ...(await redisFindings(addresses.redisUrl, {
      prefix: addresses.redisPrefix,
      isPrivate: local !== undefined && isSocket(addresses.redisUrl),
    })),
    ...(await examineChromium(env['CHROMIUM_PATH'])),
    ...(await Promise.all(urls.map(examineService))).flat(),
  ];
}

/**
 * Returns the SECRET_KEY of the services, from the environment or from the system that runs here. Its form was checked
 * before.
 */
async function secretKeyFor(env: NodeJS.ProcessEnv, target: Target): Promise<string | undefined> {
  return readUsableSettings(env).SECRET_KEY ?? (await keptSecretKey(target).catch(() => undefined));
}

async function mongodbFindings(
  uri: string | undefined,
  { secretKey, quotaMegabytes, isPrivate }: { secretKey: string | undefined; quotaMegabytes: number } & StoreFacts,
): Promise<Finding[]> {
  if (!uri) return [notSet('MongoDB', 'MONGODB_URI')];
  try {
    // This connection makes no indexes, because an absent one is reported.
    const disconnect = await connectMongo(uri, { log: log(), poolSize: 2 });
    try {
      return [
        { status: 'ok', check: 'MongoDB', found: 'answers' },
        ...(await examineMongodb({ isPrivate })),
        ...(await orProblem('Storage of accounts', () => examineStorage(quotaMegabytes))),
        ...(await examineTotals()),
        ...(await orProblem('Backup', examineBackup)),
        ...(await orProblem('Records set aside', examineSetAside)),
        ...(await orProblem('Deliveries', examineDeliveries)),
        ...(await orProblem('Mail', examineMail)),
        ...(await orProblem('Webhook secrets', () => examineSecrets(secretKey))),
      ];
    } finally {
      await disconnect();
    }
  } catch (error) {
    return [unavailable('MongoDB', error, 'Check that mongod runs and that MONGODB_URI names its replica set')];
  }
}

async function redisFindings(
  redisUrl: string | undefined,
  { prefix, isPrivate }: { prefix: string } & StoreFacts,
): Promise<Finding[]> {
  if (!redisUrl) return [notSet('Redis', 'REDIS_URL')];
  const queues = openQueues({ redisUrl, prefix, log: log() });
  try {
    await whenReady(queues.redis, CONNECT_LIMIT_MS);
    return [
      { status: 'ok', check: 'Redis', found: 'answers' },
      ...(await examineAll(queues, { isPrivate })),
      ...(await examineVersions(queues)),
    ];
  } catch (error) {
    return [unavailable('Redis', error, 'Check that Redis runs and that REDIS_URL and its password are right')];
  } finally {
    await queues.close();
  }
}

async function examineAll(queues: Queues, facts: StoreFacts) {
  return [...(await examineRedis(queues, facts)), ...(await examineQueues(queues))];
}

/** True for the address of a socket in the file system, as `npm start` gives its stores. */
function isSocket(address: string | undefined): boolean {
  return /^(unix:\/\/|mongodb:\/\/%2F)/i.test(address ?? '');
}

function notSet(check: string, name: string): Finding {
  return {
    status: 'problem',
    check,
    found: 'unknown address',
    advice: `Set ${name}, or start the system here; name the data folder of npm start with --data where it is another than .billhook`,
  };
}

function unavailable(check: string, error: unknown, advice: string): Finding {
  return { status: 'problem', check, found: errorText(error), advice };
}

const SIGNS: Record<Finding['status'], string> = {
  ok: 'ok     ',
  warning: 'WARNING',
  problem: 'PROBLEM',
  unknown: 'unknown',
};

/** Prints findings: one line per check with the advice below it, or a JSON array. */
export function printFindings(findings: Finding[], asJson: boolean): void {
  const lines = asJson
    ? [JSON.stringify(findings)]
    : findings.flatMap(({ status, check, found, advice }) => [
        `${SIGNS[status]}  ${check}: ${found}`,
        ...(advice ? [`         → ${advice}`] : []),
      ]);
  process.stdout.write(`${lines.join('\n')}\n`);
}
