// A storm of movements on the same few records: many callers at once through two gateways, and every promise judged after each round.

import type { Chance } from '../chance.ts';
import { chanceOf } from '../chance.ts';
import type { TestAccount } from '../workspace.ts';
import { type LedgerWorld, openLedgerWorld } from './ledger-world.ts';
import { ANSWERS, CENTS_MAX, MOVES, type Movement, requestOf, take, WHICH_MAX } from './movements.ts';
import { brokenPromises } from './promises.ts';
import type { TwoGateways } from './two-gateways.ts';

export interface StormOptions {
  gateways: TwoGateways;
  newAccount: () => Promise<TestAccount>;
  seed: number;
  /** Requests of a round, each round on records of a new account. */
  requests: number;
  /** Callers that send at a time. */
  callers: number;
  /** Asked before each round. */
  isOver: (rounds: number) => boolean;
  onRound?: (storm: Storm) => void;
}

export interface Storm {
  rounds: number;
  requests: number;
  statuses: Record<string, number>;
  /** Movements that were made, not refused. */
  done: Record<string, number>;
  broken: string[];
}

/** The database is busy: the caller may repeat it, and nothing was stored. */
const BUSY = 503;
/** Share of POSTs that are sent to both gateways at once with one Idempotency-Key. */
const DOUBLED = 0.2;

export async function runStorm(options: StormOptions): Promise<Storm> {
  const storm: Storm = { rounds: 0, requests: 0, statuses: {}, done: {}, broken: [] };
  while (!options.isOver(storm.rounds)) {
    const chance = chanceOf(options.seed, `round ${storm.rounds}`);
    const account = await options.newAccount();
    const world = await openLedgerWorld(account, options.gateways.sendAs(account));
    await runRound(world, chance, { ...options, storm });
    const broken = await brokenPromises(world);
    storm.broken.push(...broken.map((sentence) => `round ${storm.rounds}: ${sentence}`));
    storm.rounds += 1;
    options.onRound?.(storm);
  }
  return storm;
}

async function runRound(
  world: LedgerWorld,
  chance: Chance,
  { requests, callers, storm }: Pick<StormOptions, 'requests' | 'callers'> & { storm: Storm },
): Promise<void> {
  let left = requests;
  const note = (movement: Movement, status: number) => {
    storm.requests += 1;
    storm.statuses[status] = (storm.statuses[status] ?? 0) + 1;
    if (status < 300) storm.done[movement.move] = (storm.done[movement.move] ?? 0) + 1;
    if (status !== BUSY && !ANSWERS.includes(status)) {
      storm.broken.push(`round ${storm.rounds}: ${JSON.stringify(movement)} was answered with ${status}`);
    }
  };
  const call = async () => {
    while (left > 0) {
      left -= 1;
      const movement = movementOf(chance);
      if (!chance.happens(DOUBLED)) note(movement, await take(world, movement));
      else for (const status of await takeTwice(world, movement, `storm-${left}`, storm)) note(movement, status);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
}

/**
 * Sends one request to both gateways at once. It is made once at most, and both successes are the same response; only an `external_id` that
 * was booked before is answered with its record as it is at that moment.
 */
async function takeTwice(world: LedgerWorld, movement: Movement, key: string, storm: Storm): Promise<number[]> {
  const request = await requestOf(world, movement);
  if (request?.method !== 'POST') return [await take(world, movement)];
  const { method, path, body } = request;
  const headers = { 'Idempotency-Key': key };
  const replies = await Promise.all([0, 1].map(() => world.send(method, path, body, headers)));
  const successes = replies.filter(({ status }) => status < 300);
  const made = successes.filter((reply) => !reply.headers.has('Idempotent-Replayed'));
  if (made.length > 1) storm.broken.push(`round ${storm.rounds}: ${path} was made twice with one Idempotency-Key`);
  const shown = new Set(successes.map((reply) => JSON.stringify(reply.body)));
  if (shown.size > 1 && !('external_id' in (body ?? {}))) {
    storm.broken.push(`round ${storm.rounds}: ${path} had two responses with one Idempotency-Key`);
  }
  return replies.map(({ status }) => status);
}

function movementOf(chance: Chance): Movement {
  return {
    move: chance.pick(MOVES),
    which: chance.whole(0, WHICH_MAX),
    other: chance.whole(0, WHICH_MAX),
    cents: chance.happens(0.5) ? chance.whole(1, CENTS_MAX) : null,
    isOther: chance.happens(0.5),
  };
}
