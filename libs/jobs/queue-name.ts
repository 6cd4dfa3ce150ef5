// The name of a queue in Redis. Every script of BullMQ has all its keys in one queue, and in a cluster they must be in one hash slot.
import { isCluster, type Redis } from '../redis/connection.ts';
import type { JobDefinition } from './catalog.ts';

/**
 * Returns the name: in a cluster a hash tag, so that all keys of a queue are on one server, and the queues on several.
 * A single Redis keeps the plain name, under which earlier releases have put their jobs.
 */
export function queueName(redis: Redis, { name }: Pick<JobDefinition<unknown>, 'name'>): string {
  return isCluster(redis) ? `{${name}}` : name;
}
