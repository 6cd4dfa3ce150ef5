// Tells the webhook services that an event waits in MongoDB, so that they look at once. A lost nudge costs half a
// second, never an event.
import { connectSubscriber, type Redis } from '../redis/connection.ts';
import type { Logger } from '../service/logger.ts';

/** Nudges the relay after a commit. It never waits and never fails. @param redis a connection that fails fast. */
export function nudgeRelay(redis: Redis, prefix: string): void {
  redis.publish(channelOf(prefix), '').catch(() => undefined);
}

/** Calls `onNudge` for each nudge. @returns a function that stops listening. */
export function listenForNudges(redisUrl: string, prefix: string, log: Logger, onNudge: () => void): () => void {
  const subscriber = connectSubscriber(redisUrl, log);
  subscriber
    .subscribe(channelOf(prefix))
    .catch((error) => log.warn({ err: error }, 'cannot subscribe to nudges; the relay finds events by polling'));
  subscriber.on('message', () => onNudge());
  return () => subscriber.disconnect();
}

const channelOf = (prefix: string) => `${prefix}:nudges`;
