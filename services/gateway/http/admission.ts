// Decides whether one more document may wait. It asks nobody: what this gateway has seen of its own documents tells the wait.
import { AppError, unavailable } from '#libs/errors.ts';
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
/** Callers who were refused together should not come back together. */
const JITTER_SECONDS = 2;
const RETRY_AFTER_SECONDS_MAX = 30;

export interface Place {
  leave(how: 'done' | 'failed'): void;
}

export interface Admission {
  /**
   * So cheap that it may be asked before anything is known of a request; with an account, before its body is read.
   * @throws AppError 503 when too many wait, 429 when the account has its share; both with Retry-After.
   */
  requireRoom(accountId?: Id): void;
  /** @throws what requireRoom throws. */
  enter(accountId: Id): Place;
}

export function openAdmission(limits: AdmissionLimits = DEFAULTS): Admission {
  const waiting = new Set<{ since: number }>();
  const ofAccount = new Map<Id, number>();
  // A document that came as the n-th and took t says that the renderers do n in t. Long queues say it best, and weigh most.
  let documents = 0;
  let spentMs = 0;

  function estimatedWaitMs(): number {
    const [oldest] = waiting;
    const oldestMs = oldest ? performance.now() - oldest.since : 0;
    const queueMs = documents > 0 ? (waiting.size * spentMs) / documents : 0;
    return Math.max(oldestMs, queueMs);
  }

  function requireRoom(accountId?: Id) {
    const waitMs = estimatedWaitMs();
    if (waiting.size >= limits.waiting || (waiting.size >= ALWAYS && waitMs > limits.waitMs)) {
      const seconds = Math.min(Math.max(waitMs / 1_000, 1), RETRY_AFTER_SECONDS_MAX) + Math.random() * JITTER_SECONDS;
      throw unavailable('Too many documents are waiting, please try again later', seconds);
    }
    if (accountId !== undefined && (ofAccount.get(accountId) ?? 0) >= limits.perAccount) {
      throw new AppError(429, 'Too many documents at the same time', { headers: { 'Retry-After': '1' } });
    }
  }

  return {
    requireRoom,
    enter(accountId) {
      requireRoom(accountId);
      ofAccount.set(accountId, (ofAccount.get(accountId) ?? 0) + 1);
      const place = { since: performance.now() };
      waiting.add(place);
      const position = waiting.size;

      return {
        leave(how) {
          if (!waiting.delete(place)) return;
          const left = (ofAccount.get(accountId) ?? 1) - 1;
          if (left > 0) ofAccount.set(accountId, left);
          else ofAccount.delete(accountId);
          if (how === 'failed') return;
          documents = documents * MEMORY + position;
          spentMs = spentMs * MEMORY + (performance.now() - place.since);
        },
      };
    },
  };
}
