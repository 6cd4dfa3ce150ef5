// What a new primary of MongoDB shows at first may be older than what its predecessor acknowledged: it learns only bit by bit what a
// majority has, and a read with read concern "majority" is answered with what it knows so far. So reads wait until it knows all.
// https://www.mongodb.com/docs/manual/reference/read-concern-linearizable/
import { setTimeout as pause } from 'node:timers/promises';
import { mongo } from 'mongoose';
import { AppError, storeUnavailable } from '../errors.ts';
import type { Logger } from '../service/logger.ts';
import { within } from '../with-timeout.ts';
import { isUnanswered } from './errors.ts';

/** How long a read waits for a new primary. */
const WAIT_LIMIT_MS = 5_000;
/** How long the primary may think about one question, and how long the question and its answer may be on their way. */
const QUESTION_LIMIT_MS = 2_000;
const WAY_LIMIT_MS = 2_500;
const RETRY_MS = 50;

/** Who was primary last, by address and election. */
let primary = '';
/** Counts the primaries. */
let term = 0;
/** Until the primary of this term knows all; undefined once it does. */
let learning: Promise<true> | undefined;
let endTerm = (): void => undefined;

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
    endTerm();
    term += 1;
    learning = undefined;
  };
}

function beginTerm(client: mongo.MongoClient, log: Logger): void {
  endTerm();
  term += 1;
  const ended = new AbortController();
  endTerm = () => ended.abort();
  const done = learn(client, ended.signal, log).then(() => {
    if (learning === done) learning = undefined;
    return true as const;
  });
  learning = done;
}

/** A linearizable read is answered once a majority has all that the primary has, and the primary knows it. */
async function learn(client: mongo.MongoClient, ended: AbortSignal, log: Logger): Promise<void> {
  while (!ended.aborted) {
    try {
      const question = { find: 'accounts', filter: { _id: null }, limit: 1, maxTimeMS: QUESTION_LIMIT_MS };
      // A connection that broke without a word would keep all requests waiting: then another one is asked.
      const signal = AbortSignal.any([ended, AbortSignal.timeout(WAY_LIMIT_MS)]);
      await client.db().command({ ...question, readConcern: { level: 'linearizable' } }, { signal });
      return;
    } catch (error) {
      if (isRefused(error)) return log.warn({ err: error }, 'it cannot be found out whether the primary knows all');
    }
    await pause(RETRY_MS);
  }
}

/** The server's word that it does not do such a thing. */
function isRefused(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && !isUnanswered(error);
}

/**
 * Reads, with any number of queries, what was acknowledged before, whoever became primary meanwhile.
 * @param read changes nothing: when there was another primary at its end it is made again, unless it failed for another reason than what it read.
 * @param isFinal true once what it read has gone out, or nobody waits for it any more.
 * @throws AppError 503 when a new primary does not know all after 5 s.
 */
export async function readAfterElection<Result>(
  read: () => Promise<Result>,
  isFinal: () => boolean = () => false,
): Promise<Result> {
  for (;;) {
    await untilCaughtUp();
    const before = term;
    const isFresh = () => before === term || isFinal();
    try {
      const result = await read();
      if (isFresh()) return result;
    } catch (error) {
      const isOfWhatWasRead = error instanceof AppError && error.status < 500;
      if (!isOfWhatWasRead || isFresh()) throw error;
    }
  }
}

async function untilCaughtUp(): Promise<void> {
  const until = performance.now() + WAIT_LIMIT_MS;
  while (learning) {
    const isDone = await within(until - performance.now(), learning);
    if (!isDone) throw storeUnavailable();
  }
}
