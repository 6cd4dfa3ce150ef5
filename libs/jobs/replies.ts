// Brings a job's result back to the gateway that waits for it, in a short-lived binary key with a notice. The job's
// return value would not do: BullMQ would store it twice, and in base64. The notice carries a small result itself. When
// a notice is lost, polling finds the key; when a job is lost, the gateway enqueues it again.
import { randomUUID } from 'node:crypto';
import { AppError, appError, type ErrorCode, isErrorCode } from '../errors.ts';
import { connectSubscriber, isCluster, type Redis } from '../redis/connection.ts';
import type { Logger } from '../service/logger.ts';
import { withDeadline } from '../with-timeout.ts';
import { decodeReply, encodeReply, type Reply, type ReplyFailure, readNotice } from './reply-form.ts';
import { MEMORY_ONLY } from './unsaved.ts';

export type { Reply, ReplyFailure };

/** Long enough for a gateway that was paused, and short enough that customers' documents do not stay in Redis. */
const RESULT_LIFE_MS = 60_000;
const POLL_MS = 1_000;
/** A larger result does not travel with the notice, because Redis disconnects a subscriber that leaves 32 MB unread. */
const NOTICE_BYTES_MAX = 256 * 1024;
/** None does in a cluster, which sends each notice to all its servers. */
const CLUSTER_NOTICE_BYTES_MAX = 0;
/** The interval at which the keys of received results are removed together. */
const FORGET_MS = 50;

export interface Replies {
  /** The address for the job's `replyTo`. */
  address: string;
  /**
   * Waits for the reply to the job `id`.
   * @param recover called about once a second without a reply; it may enqueue a lost job again.
   * @throws AppError 504 after `deadlineAt` (ms since the epoch), the worker's failure, or `signal.reason` when
   * aborted.
   */
  expect(
    id: string,
    options: { deadlineAt: number; signal: AbortSignal; recover?: () => Promise<void> },
  ): Promise<Reply>;
  /** Returns the number of awaited replies. */
  waiting(): number;
  close(): void;
}

/** Opens the replies of this process. @param options.redis a connection that fails fast. */
export function openReplies(options: { redis: Redis; redisUrl: string; prefix: string; log: Logger }): Replies {
  const { redis, prefix } = options;
  const address = randomUUID();
  const waiters = new Map<string, { receive: (value: Buffer) => void; look: () => void; miss: () => void }>();
  const received: string[] = [];
  const subscriber = connectSubscriber(options.redisUrl, options.log);
  subscriber
    .subscribe(channelOf(prefix, address))
    .catch((error) => options.log.warn({ err: error }, 'cannot subscribe to replies; polling finds them'));
  subscriber.on('messageBuffer', (_channel: Buffer, notice: Buffer) => {
    const { id, value } = readNotice(notice);
    const waiter = waiters.get(id);
    if (!value && waiter) return waiter.look();
    if (value) waiter?.receive(value);
    forgetSoon(id);
  });
  const timer = setInterval(() => void poll(), POLL_MS);

  // The commands of one event-loop turn go in one write. In a cluster each goes to the server that has its key.
  async function poll() {
    await Promise.allSettled(
      [...waiters].map(async ([id, { look, miss }]) => {
        // While Redis is unavailable the next poll asks again, until the deadline.
        const exists = await redis.exists(keyOf(prefix, id));
        if (exists === 1) look();
        else miss();
      }),
    );
  }

  function forgetSoon(id: string) {
    if (received.push(keyOf(prefix, id)) === 1) setTimeout(forget, FORGET_MS).unref();
  }

  function forget() {
    // A key that cannot be removed now expires on its own.
    for (const key of received.splice(0)) redis.unlink(key).catch(() => undefined);
  }

  return {
    address,
    waiting: () => waiters.size,
    close() {
      clearInterval(timer);
      subscriber.disconnect();
    },
    expect(id, { deadlineAt, signal, recover }) {
      const { promise, resolve, reject } = Promise.withResolvers<Reply>();
      // A large reply may be on its way for longer than the pause between two polls.
      let isLooking = false;
      waiters.set(id, { receive, look: () => void look(), miss: () => void miss() });
      return withDeadline(deadlineAt, promise, { signal, error: deadlinePassed }).finally(() => waiters.delete(id));

      function receive(value: Buffer) {
        const reply = decodeReply(value);
        if ('bytes' in reply) resolve(reply);
        else reject(asError(reply));
      }

      async function look() {
        if (isLooking) return;
        isLooking = true;
        try {
          // The key is not removed at once, because the reply could be lost on its way here.
          const value = await redis.getBuffer(keyOf(prefix, id));
          if (!value) return;
          receive(value);
          forgetSoon(id);
        } catch (error) {
          options.log.debug({ err: error, id }, 'cannot look for a reply; the next poll tries again');
        } finally {
          isLooking = false;
        }
      }

      async function miss() {
        try {
          await recover?.();
        } catch (error) {
          if (error instanceof AppError) reject(error);
          else options.log.debug({ err: error, id }, 'cannot enqueue a lost job again; the next poll tries again');
        }
      }
    },
  };
}

// The reply stays in memory, because Redis must not write customers' documents to disk. One script makes sure that the
// key exists before the notice goes out, and that the bytes travel to Redis once for both.
const SEND = `${MEMORY_ONLY}
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
local value = #ARGV[1] <= tonumber(ARGV[3]) and ARGV[1] or ''
redis.call('PUBLISH', ARGV[4], ARGV[5] .. '\\n' .. value)`;

/** Sends the reply of a worker. A second call for the same job does no harm. */
export async function sendReply(
  redis: Redis,
  { prefix, replyTo, id }: { prefix: string; replyTo: string; id: string },
  reply: Reply | ReplyFailure,
): Promise<void> {
  const value = encodeReply(reply);
  const noticeMax = isCluster(redis) ? CLUSTER_NOTICE_BYTES_MAX : NOTICE_BYTES_MAX;
  await redis.eval(SEND, 1, keyOf(prefix, id), value, RESULT_LIFE_MS, noticeMax, channelOf(prefix, replyTo), id);
}

/** Tells every worker that the job `id` is cancelled. */
export async function announceCancel(redis: Redis, prefix: string, id: string): Promise<void> {
  await redis.publish(cancelChannelOf(prefix), id);
}

/** Calls `onCancel` with the id of each cancelled job. @returns a function that stops listening. */
export function listenForCancels(
  redisUrl: string,
  prefix: string,
  log: Logger,
  onCancel: (id: string) => void,
): () => void {
  const subscriber = connectSubscriber(redisUrl, log);
  subscriber
    .subscribe(cancelChannelOf(prefix))
    .catch((error) => log.warn({ err: error }, 'cannot subscribe to cancelled jobs; they run to their end'));
  subscriber.on('message', (_channel: string, id: string) => onCancel(id));
  return () => subscriber.disconnect();
}

/** The codes of failures by their status, for a reply that has none that this release knows. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  500: 'internal_error',
  502: 'renderer_ended',
  503: 'printing_failed',
  504: 'document_late',
};

function asError({ status, message, code, params }: ReplyFailure) {
  const headers: Record<string, string> = status === 503 ? { 'Retry-After': '1' } : {};
  // Renderers are of another release while one is rolled out.
  const known = isErrorCode(code) ? code : (CODES[status] ?? 'document_not_printable');
  return new AppError(known, message, { headers, params, status });
}

/** Returns the error of a document that was not printed before its deadline. */
export function deadlinePassed(): AppError {
  return appError('document_late');
}

/** The error of a document that ended the process of the renderer that printed it. */
export function rendererEnded(): AppError {
  return appError('renderer_ended');
}

export function isRendererEnded(error: unknown): boolean {
  return error instanceof AppError && error.code === 'renderer_ended';
}

const keyOf = (prefix: string, id: string) => `${prefix}:reply:${id}`;
const channelOf = (prefix: string, address: string) => `${prefix}:replies:${address}`;
const cancelChannelOf = (prefix: string) => `${prefix}:cancels`;
