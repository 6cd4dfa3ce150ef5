// Decides whether one more document may wait. It asks nobody: what this gateway has seen of its own documents tells the wait.
import { AppError } from '#libs/errors.ts';
import type { Id } from '#libs/models/tenant.ts';

export interface AdmissionLimits {
  /** Documents one account may have in flight on this gateway. */
  perAccount: number;
  /** Documents that may wait on this gateway, whoever asked for them. */
  waiting: number;
  /** Nobody is let in who would wait longer. */
  waitMs: number;
}

const DEFAULTS: AdmissionLimits = { perAccount: 32, waiting: 200, waitMs: 10_000 };

/** So few are always let in: from so few no wait can be told. */
const ALWAYS = 8;
/** Of what was learnt, this much is kept with each further document. */
const MEMORY = 0.95;
/** From the knock until a key is looked up and a body read. Not longer: nobody is to keep others out by knocking alone. */
const KNOCK_MS = 250;
/** Callers who were refused together should not come back together. */
const JITTER_SECONDS = 2;
const RETRY_AFTER_SECONDS_MAX = 30;

export interface Place {
  /** @param asideMs how long it was no renderer's work: a picture that is slow to come makes nobody else wait. */
  leave(how: 'done' | 'failed', asideMs?: number): void;
}

export interface Refusal {
  status: 503 | 429;
  message: string;
  /** After so many a retry makes sense. */
  seconds: number;
}

const OVER_SHARE: Refusal = { status: 429, message: 'Too many documents at the same time', seconds: 1 };

export interface Admission {
  /**
   * Asked before anything is known of a request, and so cheap that it may be. Who is not refused keeps his room for a moment, so that
   * of many who come together as many go on as there is room for.
   */
  knock(requestId: string): Refusal | undefined;
  /** The request has been answered: who knocked and did not come in will not come. */
  withdraw(requestId: string): void;
  /** Why a document of this account cannot come in now: too many wait, or the account has its share; undefined when it can. */
  refusal(accountId: Id): Refusal | undefined;
  /** @throws AppError with Retry-After when there is a refusal. */
  enter(comer: { accountId: Id; requestId: string }): Place;
}

export function openAdmission(limits: AdmissionLimits = DEFAULTS): Admission {
  const waiting = new Set<{ since: number }>();
  /** When each knocked, the longest ago first. */
  const knocked = new Map<string, number>();
  const ofAccount = new Map<Id, number>();
  // A document that came as the n-th and took t says that the renderers do n in t. Long queues say it best, and weigh most.
  let documents = 0;
  let spentMs = 0;
  /** When a document was last done. */
  let lastDoneAt = 0;

  function estimatedWaitMs(): number {
    const [oldest] = waiting;
    // While others are done, one that is old is late alone: its renderer was killed, or it waits for a picture.
    const stuckMs = oldest ? performance.now() - Math.max(oldest.since, lastDoneAt) : 0;
    const queueMs = documents > 0 ? (waiting.size * spentMs) / documents : 0;
    return Math.max(stuckMs, queueMs);
  }

  /** @param coming who knocked and is not in yet. */
  function fullness(coming: number): Refusal | undefined {
    const waitMs = estimatedWaitMs();
    const waiters = waiting.size + coming;
    if (waiters < limits.waiting && (waiters < ALWAYS || waitMs <= limits.waitMs)) return undefined;
    const seconds = Math.min(Math.max(waitMs / 1_000, 1), RETRY_AFTER_SECONDS_MAX) + Math.random() * JITTER_SECONDS;
    const message = 'Too many documents are waiting, please try again later';
    return { status: 503, message, seconds: Math.ceil(seconds) };
  }

  function knock(requestId: string) {
    const now = performance.now();
    for (const [id, at] of knocked) {
      if (now - at < KNOCK_MS) break;
      knocked.delete(id);
    }
    const refused = fullness(knocked.size);
    if (!refused) {
      knocked.delete(requestId); // Ids are the callers' own: one that comes again is to stand last.
      knocked.set(requestId, now);
    }
    return refused;
  }

  function refusal(accountId: Id): Refusal | undefined {
    const isOverShare = (ofAccount.get(accountId) ?? 0) >= limits.perAccount;
    return fullness(0) ?? (isOverShare ? OVER_SHARE : undefined);
  }

  return {
    knock,
    withdraw: (requestId) => void knocked.delete(requestId),
    refusal,
    enter({ accountId, requestId }) {
      knocked.delete(requestId);
      const refused = refusal(accountId);
      if (refused) throw errorOf(refused);
      ofAccount.set(accountId, (ofAccount.get(accountId) ?? 0) + 1);
      const place = { since: performance.now() };
      waiting.add(place);
      const position = waiting.size;

      return {
        leave(how, asideMs = 0) {
          if (!waiting.delete(place)) return;
          const left = (ofAccount.get(accountId) ?? 1) - 1;
          if (left > 0) ofAccount.set(accountId, left);
          else ofAccount.delete(accountId);
          if (how === 'failed') return;
          lastDoneAt = performance.now();
          documents = documents * MEMORY + position;
          spentMs = spentMs * MEMORY + Math.max(0, lastDoneAt - place.since - asideMs);
        },
      };
    },
  };
}

/** A refusal as the error that answers it. */
export function errorOf({ status, message, seconds }: Refusal): AppError {
  return new AppError(status, message, { headers: { 'Retry-After': String(seconds) } });
}
