// What a new primary of MongoDB shows at first may be older than what its predecessor acknowledged: it learns only bit by bit what a
// majority has, and a read with read concern "majority" is answered with what it knows so far. So reads wait until it knows all.
// https://www.mongodb.com/docs/manual/reference/read-concern-linearizable/
import { setTimeout as pause } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { unavailable } from './errors.ts';
import type { Logger } from './logger.ts';
import { isOutOfTime, isStoreAway } from './mongo-errors.ts';
import { within } from './within.ts';

/** How long a read waits for a new primary, and how long one question to it may take. */
const WAIT_LIMIT_MS = 5_000;
const QUESTION_LIMIT_MS = 2_000;
const RETRY_MS = 50;

/** Who was primary last, by address and election. */
let primary = '';
/** Counts the primaries. */
let term = 0;
/** Until the primary of this term knows all; undefined once it does. */
let learning: Promise<true> | undefined;

/** Looks who is primary from now on. @param client a connected one. @returns what ends that. */
export function followPrimary(client: mongo.MongoClient, log: Logger): () => void {
  function look({ newDescription }: mongo.TopologyDescriptionChangedEvent) {
    const now = [...newDescription.servers.values()].find(({ type }) => type === 'RSPrimary');
    const name = now && `${now.address} ${String(now.electionId)}`;
    if (!name || name === primary) return;
    primary = name;
    beginTerm(client, log);
  }
  client.on('topologyDescriptionChanged', look);
  beginTerm(client, log); // Who is primary by now may have become it a moment ago.
  return () => {
    client.off('topologyDescriptionChanged', look);
    term += 1;
    learning = undefined;
  };
}

function beginTerm(client: mongo.MongoClient, log: Logger): void {
  term += 1;
  const mine = term;
  const done = learn(client, () => mine === term, log).then(() => {
    if (learning === done) learning = undefined;
    return true as const;
  });
  learning = done;
}

/** A linearizable read is answered once a majority has all that the primary has, and the primary knows it. */
async function learn(client: mongo.MongoClient, isCurrent: () => boolean, log: Logger): Promise<void> {
  while (isCurrent()) {
    try {
      await client.db().command({
        find: 'accounts',
        filter: { _id: null },
        limit: 1,
        readConcern: { level: 'linearizable' },
        maxTimeMS: QUESTION_LIMIT_MS,
      });
      return;
    } catch (error) {
      if (!isStoreAway(error) && !isOutOfTime(error)) {
        log.warn({ err: error }, 'it cannot be found out whether the primary knows all');
        return;
      }
    }
    await pause(RETRY_MS);
  }
}

/**
 * Reads, with any number of queries, what was acknowledged before, whoever became primary meanwhile.
 * @param read changes nothing: it is made again when there was another primary at its end. @param isFinal true once what it read has gone out.
 * @throws AppError 503 when a new primary does not know all after 5 s.
 */
export async function readAcknowledged<Result>(
  read: () => Promise<Result>,
  isFinal: () => boolean = () => false,
): Promise<Result> {
  const until = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    while (learning) {
      const isDone = await within(until - performance.now(), learning);
      if (!isDone) throw unavailable('The service is temporarily unavailable', 1);
    }
    const before = term;
    const isFresh = () => before === term || isFinal();
    try {
      const result = await read();
      if (isFresh()) return result;
    } catch (error) {
      if (isFresh()) throw error;
    }
  }
}
