// The webhook service as a process of its own, endpoints, and events to send there.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { drawNext } from '#libs/models/sequences.ts';
import { type Id, storedId, wireId } from '#libs/models/tenant.ts';
import { deliveryId } from '#libs/models/webhooks/delivery.ts';
import { Event, type EventRecord, insertEvent } from '#libs/models/webhooks/event.ts';
import type { EventType } from '#libs/models/webhooks/event-types.ts';
import { inTransaction } from '#libs/mongo/connection.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { registerEndpoint } from '#libs/webhooks/register-endpoint.ts';
import { nodeEnvironmentOf, nodeFlagsOf } from '../../deploy/local/node-flags.ts';
import { compiledCode } from '../../deploy/local/service-env.ts';
import { insertDeliveries } from '../../services/webhooks/store/new-deliveries.ts';
import { eventually } from './eventually.ts';
import type { Workspace } from './workspace.ts';

/** Both spellings of this machine: what `npm start` allows. */
export const LOOPBACK = '127.0.0.0/8,::1/128';

/** Only ends a hang: a busy machine may take long. */
const START_LIMIT_MS = 150_000;

export interface RunningService {
  process: ChildProcess;
  /** Ends the worker as a crash would. */
  kill(): Promise<void>;
  /** Ends the worker as an operator would. @returns the exit code. */
  stop(): Promise<number | null>;
}

/** Starts services/webhooks with waits a thousandth as long, unless `env` says otherwise; ready when its first log line says so. */
export async function startWebhookService(workspace: Workspace, env: NodeJS.ProcessEnv = {}): Promise<RunningService> {
  const child = spawn(process.execPath, [...nodeFlagsOf('webhooks'), 'services/webhooks/main.ts'], {
    env: {
      PATH: process.env['PATH'],
      ...compiledCode(process.env),
      ...nodeEnvironmentOf('webhooks'),
      MONGODB_URI: workspace.mongodbUri,
      REDIS_URL: workspace.redisUrl,
      REDIS_PREFIX: workspace.redisPrefix,
      SECRET_KEY: workspace.secretKey,
      OUTBOUND_ALLOW: LOOPBACK,
      HEALTH_HOST: '127.0.0.1',
      WEBHOOK_RETRY_SCALE: '0.001',
      LOG_LEVEL: 'info',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let output = '';
  child.stdout.on('data', (chunk) => {
    if (process.env['TEST_LOG_LEVEL']) process.stdout.write(chunk);
    output = (output + String(chunk)).slice(-10_000);
  });
  try {
    await eventually(() => {
      if (child.exitCode !== null) throw new Error(`the service ended: ${output}`);
      return output.includes('"msg":"ready"');
    }, START_LIMIT_MS);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
    return child.exitCode;
  };
  return {
    process: child,
    kill: async () => {
      await end('SIGKILL');
    },
    stop: () => (child.exitCode === null ? end('SIGTERM') : Promise.resolve(child.exitCode)),
  };
}

export async function register(workspace: Workspace, accountId: Id, url: string, events = ['*']) {
  const box = openSecretBox(workspace.secretKey);
  return registerEndpoint(accountId, { url, events }, { outbound: openOutbound({ allow: LOOPBACK }), box });
}

/** Commits an event as the gateway does, without a nudge. */
export async function announce(accountId: Id, type: EventType, data: unknown, endpointId?: Id): Promise<Id> {
  return inTransaction(async (session) => {
    const event = await drawNext(session, accountId, 'event');
    return insertEvent(session, { accountId, type, sequence: event, data, ...(endpointId ? { endpointId } : {}) });
  });
}

/** One that was committed, as it is stored. */
export async function announcedEvent(accountId: Id): Promise<EventRecord> {
  const eventId = await announce(accountId, 'client.created', {});
  return (await Event.findOne({ account_id: accountId, _id: eventId }).lean<EventRecord>()) as EventRecord;
}

/** Commits many events in one transaction. @returns their ids in their order. */
export async function announceMany(accountId: Id, count: number): Promise<Id[]> {
  return inTransaction(async (session) => {
    const ids: Id[] = [];
    for (let index = 0; index < count; index += 1) {
      const event = await drawNext(session, accountId, 'event');
      ids.push(await insertEvent(session, { accountId, type: 'client.created', sequence: event, data: { index } }));
    }
    return ids;
  });
}

/** A delivery of an event of its own, due now and on no queue. @returns its id. */
export async function storedDelivery(accountId: Id, endpointId: Id): Promise<Id> {
  const event = await announcedEvent(accountId);
  await insertDeliveries([{ event, endpointIds: [storedId(endpointId)] }], new Date());
  return deliveryId(wireId(event._id), endpointId);
}
