// Brings a job's result back to whoever waits for it: a short-lived binary key plus a notice, never the job's return value
// (BullMQ would store the bytes twice, and base64). A small result travels in the notice itself, and the key is what is left when
// that gets lost: it is found by polling. A lost job is put in again.

import { randomUUID } from 'node:crypto';
import { agreedTime } from '../clock.ts';
import { AppError } from '../errors.ts';
import { LeakFreeMap } from '../leak-free.ts';
import { connectWaiting, type Redis } from '../redis/connection.ts';
import type { Logger } from '../service/logger.ts';
import { decodeReply, encodeReply, type Reply, type ReplyFailure, readNotice } from './reply-form.ts';
import { MEMORY_ONLY } from './unsaved.ts';

export type { Reply, ReplyFailure };

/** Long enough for a gateway that was paused, short enough that no customer's document stays in Redis. */
const RESULT_LIFE_MS = 60_000;
const POLL_MS = 1_000;
/** What comes with the notice saves a round trip. Redis cuts off a subscriber who leaves 32 MB unread, so large results stay behind. */
const NOTICE_BYTES_MAX = 256 * 1024;
/** Keys of results that came are removed together. */
const FORGET_MS = 50;

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
  const waiters = new LeakFreeMap<string, { receive: (value: Buffer) => void; look: () => void; miss: () => void }>();
  const received: string[] = [];
  const subscriber = connectWaiting(options.redisUrl, options.log);
  subscriber.subscribe(channelOf(prefix, address)).catch((error) => options.log.warn({ err: error }, 'not subscribed'));
  subscriber.on('messageBuffer', (_channel: Buffer, notice: Buffer) => {
    const { id, value } = readNotice(notice);
    const waiter = waiters.get(id);
    if (!value && waiter) return waiter.look();
    if (value) waiter?.receive(value);
    forgetSoon(id);
  });
  const timer = setInterval(() => void poll(), POLL_MS);

  // One question for all who wait: hundreds of them must not cost Redis more than the documents do.
  async function poll() {
    const ids = waiters.keys();
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

  function forgetSoon(id: string) {
    if (received.push(keyOf(prefix, id)) === 1) setTimeout(forget, FORGET_MS).unref();
  }

  function forget() {
    // What cannot be removed now ends by itself.
    redis.unlink(received.splice(0)).catch(() => undefined);
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
        const deadline = setTimeout(
          () => settle(() => reject(deadlinePassed())),
          Math.max(0, deadlineAt - agreedTime()),
        );
        const onAbort = () => settle(() => reject(signal.reason));
        signal.addEventListener('abort', onAbort, { once: true });
        waiters.set(id, { receive, look: () => void look(), miss: () => void miss() });
        // A large one may be on its way for longer than the pause between two looks.
        let isLooking = false;
        if (signal.aborted) onAbort();

        function settle(finish: () => void) {
          if (!waiters.delete(id)) return;
          clearTimeout(deadline);
          signal.removeEventListener('abort', onAbort);
          finish();
        }

        function receive(value: Buffer) {
          const reply = decodeReply(value);
          settle(() => ('bytes' in reply ? resolve(reply) : reject(asError(reply))));
        }

        async function look() {
          if (isLooking) return;
          isLooking = true;
          try {
            // Not taken out at once: the answer may be lost on its way, and with it the document.
            const value = await redis.getBuffer(keyOf(prefix, id));
            if (!value) return;
            receive(value);
            forgetSoon(id);
          } catch (error) {
            options.log.debug({ err: error, id }, 'could not look for a reply');
          } finally {
            isLooking = false;
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

// For memory alone: no customer's document is written to Redis' disk. In one step: a notice never goes out before the key is there, and the bytes come to Redis once for both.
const SEND = `${MEMORY_ONLY}
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
local value = #ARGV[1] <= tonumber(ARGV[3]) and ARGV[1] or ''
redis.call('PUBLISH', ARGV[4], ARGV[5] .. '\\n' .. value)`;

/** Called by the worker. The bytes are stored once and announced once; twice is harmless. */
export async function sendReply(
  redis: Redis,
  { prefix, replyTo, id }: { prefix: string; replyTo: string; id: string },
  reply: Reply | ReplyFailure,
): Promise<void> {
  const value = encodeReply(reply);
  await redis.eval(SEND, 1, keyOf(prefix, id), value, RESULT_LIFE_MS, NOTICE_BYTES_MAX, channelOf(prefix, replyTo), id);
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
  const subscriber = connectWaiting(redisUrl, log);
  subscriber.subscribe(cancelChannelOf(prefix)).catch((error) => log.warn({ err: error }, 'not subscribed'));
  subscriber.on('message', (_channel: string, id: string) => onCancel(id));
  return () => subscriber.disconnect();
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
