// Delays reads until a newly elected primary of MongoDB has caught up. At first its majority snapshot may be older than
// what its predecessor acknowledged, and reads with read concern "majority" return that old snapshot.
// https://www.mongodb.com/docs/manual/reference/read-concern-linearizable/
import { setTimeout as pause } from 'node:timers/promises';
import { mongo } from 'mongoose';
import { AppError, storeUnavailable } from '../errors.ts';
import type { Logger } from '../service/logger.ts';
import { resultWithin } from '../with-timeout.ts';
import { isUnanswered } from './errors.ts';

/** The time that a read waits for a new primary. */
const WAIT_LIMIT_MS = 5_000;
/** The limits of one probe: on the server, and including the network. */
const PROBE_SERVER_LIMIT_MS = 2_000;
const PROBE_LIMIT_MS = 2_500;
const RETRY_MS = 50;

/** The last known primary, by address and election. */
let primary = '';
/** A number that increases with every new primary. */
let term = 0;
/** Resolves when the primary of this term has caught up. Undefined afterwards. */
let catchingUp: Promise<true> | undefined;
let endTerm = (): void => undefined;

/** Watches which member is primary. @param client a connected client. @returns a function that stops watching. */
export function followPrimary(client: mongo.MongoClient, log: Logger): () => void {
  function onTopology({ newDescription }: mongo.TopologyDescriptionChangedEvent) {
    const now = [...newDescription.servers.values()].find(({ type }) => type === 'RSPrimary');
    const name = now && `${now.address} ${String(now.electionId)}`;
    if (!name || name === primary) return;
    primary = name;
    beginTerm(client, log);
  }
  client.on('topologyDescriptionChanged', onTopology);
  beginTerm(client, log); // The current primary may have been elected a moment ago.
  return () => {
    client.off('topologyDescriptionChanged', onTopology);
    endTerm();
    term += 1;
    catchingUp = undefined;
  };
}

function beginTerm(client: mongo.MongoClient, log: Logger): void {
  endTerm();
  term += 1;
  const ended = new AbortController();
  endTerm = () => ended.abort();
  const done = catchUp(client, ended.signal, log).then(() => {
    if (catchingUp === done) catchingUp = undefined;
    return true as const;
  });
  catchingUp = done;
}

/** Waits for a linearizable read, which returns only after a majority has confirmed everything that the primary has. */
async function catchUp(client: mongo.MongoClient, ended: AbortSignal, log: Logger): Promise<void> {
  while (!ended.aborted) {
    try {
      const probe = { find: 'accounts', filter: { _id: null }, limit: 1, maxTimeMS: PROBE_SERVER_LIMIT_MS };
      // A connection that broke silently would delay all requests, so each probe has a limit and the next one uses
      // another connection.
      const signal = AbortSignal.any([ended, AbortSignal.timeout(PROBE_LIMIT_MS)]);
      await client.db().command({ ...probe, readConcern: { level: 'linearizable' } }, { signal });
      return;
    } catch (error) {
      if (isRejected(error))
        return log.warn({ err: error }, 'cannot check whether the new primary has caught up; reads go on');
    }
    await pause(RETRY_MS);
  }
}

/** True when the server does not support or permit the probe. */
function isRejected(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && !isUnanswered(error);
}

/**
 * Runs `read`, which may make any number of queries, so that it sees everything acknowledged before, across elections.
 * @param read changes nothing. It runs again when the primary changed meanwhile, unless it failed for a reason other
 * than its data.
 * @param isFinal true once the data has been sent or the caller has disconnected.
 * @throws AppError 503 when a new primary has not caught up after 5 s.
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
      const followsFromData = error instanceof AppError && error.status < 500;
      if (!followsFromData || isFresh()) throw error;
    }
  }
}

async function untilCaughtUp(): Promise<void> {
  const until = performance.now() + WAIT_LIMIT_MS;
  while (catchingUp) {
    const isDone = await resultWithin(until - performance.now(), catchingUp);
    if (!isDone) throw storeUnavailable();
  }
}
