// Opens the queues for a command. Only such commands load BullMQ, which takes a fifth of their time.
import { errorText } from '#libs/errors.ts';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { whenReady } from '#libs/redis/connection.ts';
import { isUnanswered } from '#libs/redis/errors.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { CommandError, findAddresses, nothingRuns, stoppedAnswering, type Target, withDatabase } from './connection.ts';

const REDIS_LIMIT_MS = 5_000;

/** Connects to both stores, runs `work`, disconnects. @throws CommandError when one does not answer, or stops answering. */
export async function withQueues<Result>(target: Target, work: (queues: Queues) => Promise<Result>): Promise<Result> {
  const addresses = await findAddresses(target);
  const redisUrl = addresses.redisUrl ?? nothingRuns(target);
  return withDatabase(target, async () => {
    const queues = openQueues({ redisUrl, prefix: addresses.redisPrefix, log: makeLogger('admin', 'silent') });
    try {
      await whenReady(queues.redis, REDIS_LIMIT_MS).catch((error) => {
        throw new CommandError(`Redis does not answer: ${errorText(error)}`);
      });
      return await work(queues);
    } catch (error) {
      throw isUnanswered(error) ? stoppedAnswering('Redis', error) : error;
    } finally {
      await queues.close();
    }
  });
}
