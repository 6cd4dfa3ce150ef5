// Tells the webhook services that something waits in MongoDB, so that they need not wait for their next look.
// Only a hint: a lost nudge costs half a second, never an event.

import { connectWaiting, type Redis } from '../redis/connection.ts';
import type { Logger } from '../service/logger.ts';

/** Called after a commit; nobody waits for it and nothing fails with it. @param redis an impatient connection. */
export function nudgeRelay(redis: Redis, prefix: string): void {
  redis.publish(channelOf(prefix), '').catch(() => undefined);
}

/** Calls `onNudge` for each nudge. @returns what ends it. */
export function listenForNudges(redisUrl: string, prefix: string, log: Logger, onNudge: () => void): () => void {
  const subscriber = connectWaiting(redisUrl, log);
  subscriber.subscribe(channelOf(prefix)).catch((error) => log.warn({ err: error }, 'not subscribed'));
  subscriber.on('message', () => onNudge());
  return () => subscriber.disconnect();
}

const channelOf = (prefix: string) => `${prefix}:nudges`;
