// Brings a job's result back to whoever waits for it: a short-lived binary key plus a notice, never the job's return value
// (BullMQ would store the bytes twice, and base64). A lost notice is found by polling; a lost job is put in again.
import { randomUUID } from 'node:crypto';
import { AppError, type Details } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { connectPatient, type Redis } from '../redis.ts';

/** Long enough for a gateway that was paused, short enough that no customer's document stays in Redis. */
const RESULT_LIFE_MS = 60_000;
const POLL_MS = 1_000;

export interface ReplyFailure {
  status: number;
  message: string;
  details?: Details;
}

export interface Reply {
  bytes: Buffer;
  /** What the caller is told in headers, such as images that could not be had. */
  warnings: string[];
}

export interface Replies {
  /** Goes into the job's `replyTo`. */
  address: string;
  /**
   * Waits for the reply to the job `id`.
   * @param recover called while waiting, about once a second, when no reply is there: may put a lost job in again.
   * @throws AppError 504 after `deadlineAt` (ms since the epoch), what the worker answered, or `signal.reason` when aborted.
   */
  expect(
    id: string,
    options: { deadlineAt: number; signal: AbortSignal; recover?: () => Promise<void> },
  ): Promise<Reply>;
  /** How many replies are awaited. */
  waiting(): number;
  close(): void;
}

/** @param redis an impatient connection: reads must fail fast. */
export function openReplies(options: { redis: Redis; redisUrl: string; prefix: string; log: Logger }): Replies {
  const { redis, prefix } = options;
  const address = randomUUID();
  const waiters = new Map<string, { look: () => void; miss: () => void }>();
  const subscriber = connectPatient(options.redisUrl, options.log);
  subscriber.subscribe(channelOf(prefix, address)).catch((error) => options.log.warn({ err: error }, 'not subscribed'));
  subscriber.on('message', (_channel: string, id: string) => waiters.get(id)?.look());
  const timer = setInterval(() => void poll(), POLL_MS);

  // One question for all who wait: hundreds of them must not cost Redis more than the documents do.
  async function poll() {
    const ids = [...waiters.keys()];
    if (ids.length === 0) return;
    const questions = redis.pipeline();
    for (const id of ids) questions.exists(keyOf(prefix, id));
    const answers = await questions.exec().catch(() => undefined);
    // Without an answer Redis is away: the next poll asks again, the deadline ends it.
    for (const [index, [error, exists]] of (answers ?? []).entries()) {
      const waiter = error ? undefined : waiters.get(ids[index] ?? '');
      if (exists === 1) waiter?.look();
      else waiter?.miss();
    }
  }

  return {
    address,
    waiting: () => waiters.size,
    close() {
      clearInterval(timer);
      subscriber.disconnect();
    },
    expect: (id, { deadlineAt, signal, recover }) =>
      new Promise<Reply>((resolve, reject) => {
        const deadline = setTimeout(() => settle(() => reject(deadlinePassed())), Math.max(0, deadlineAt - Date.now()));
        const onAbort = () => settle(() => reject(signal.reason));
        signal.addEventListener('abort', onAbort, { once: true });
        waiters.set(id, { look: () => void look(), miss: () => void miss() });
        if (signal.aborted) onAbort();

        function settle(finish: () => void) {
          if (!waiters.delete(id)) return;
          clearTimeout(deadline);
          signal.removeEventListener('abort', onAbort);
          finish();
        }

        async function look() {
          try {
            const reply = await takeReply(redis, keyOf(prefix, id));
            if (reply) settle(() => ('bytes' in reply ? resolve(reply) : reject(asError(reply))));
          } catch (error) {
            options.log.debug({ err: error, id }, 'could not look for a reply');
          }
        }

        async function miss() {
          try {
            await recover?.();
          } catch (error) {
            if (error instanceof AppError) settle(() => reject(error));
            else options.log.debug({ err: error, id }, 'could not recover a job');
          }
        }
      }),
  };
}

/** Called by the worker. The bytes are stored once and announced once; twice is harmless. */
export async function sendReply(
  redis: Redis,
  target: { prefix: string; replyTo: string; id: string },
  reply: Reply | ReplyFailure,
): Promise<void> {
  const key = keyOf(target.prefix, target.id);
  const fields =
    'bytes' in reply
      ? ['pdf', reply.bytes, 'warnings', JSON.stringify(reply.warnings)]
      : ['failure', JSON.stringify(reply)];
  const results = await redis
    .multi()
    .hset(key, ...fields)
    .pexpire(key, RESULT_LIFE_MS)
    .publish(channelOf(target.prefix, target.replyTo), target.id)
    .exec();
  const failed = results?.find(([error]) => error);
  if (!results || failed?.[0]) throw failed?.[0] ?? new Error('Redis did not store the reply');
}

/** Tells every worker that nobody waits for the job `id` any more. */
export async function announceCancel(redis: Redis, prefix: string, id: string): Promise<void> {
  await redis.publish(cancelChannelOf(prefix), id);
}

/** Calls `onCancel` with the id of each job that nobody waits for any more. @returns what ends it. */
export function listenForCancels(
  redisUrl: string,
  prefix: string,
  log: Logger,
  onCancel: (id: string) => void,
): () => void {
  const subscriber = connectPatient(redisUrl, log);
  subscriber.subscribe(cancelChannelOf(prefix)).catch((error) => log.warn({ err: error }, 'not subscribed'));
  subscriber.on('message', (_channel: string, id: string) => onCancel(id));
  return () => subscriber.disconnect();
}

async function takeReply(redis: Redis, key: string): Promise<Reply | ReplyFailure | undefined> {
  const results = await redis.multi().hgetallBuffer(key).del(key).exec();
  const [error, value] = results?.[0] ?? [new Error('Redis did not answer'), undefined];
  if (error) throw error;
  const fields = (value ?? {}) as Record<string, Buffer>;
  if (fields['pdf']) return { bytes: fields['pdf'], warnings: JSON.parse(String(fields['warnings'] ?? '[]')) };
  if (fields['failure']) return JSON.parse(String(fields['failure'])) as ReplyFailure;
  return undefined;
}

function asError({ status, message, details }: ReplyFailure) {
  const headers: Record<string, string> = status === 503 ? { 'Retry-After': '1' } : {};
  return new AppError(status, message, { headers, ...(details ? { details } : {}) });
}

function deadlinePassed() {
  return new AppError(504, 'The document was not ready before its deadline');
}

const keyOf = (prefix: string, id: string) => `${prefix}:reply:${id}`;
const channelOf = (prefix: string, address: string) => `${prefix}:replies:${address}`;
const cancelChannelOf = (prefix: string) => `${prefix}:cancels`;
