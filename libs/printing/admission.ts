// Decides whether one more document may wait, by what this gateway has seen of its own documents. Accounts do not wait for each other's.

import { errorOf, type Rejection } from '../http/rejection.ts';
import type { Id } from '../models/tenant.ts';
import { openShares } from './renderer-shares.ts';
import { openMeasure } from './wait-estimate.ts';
import { openWaitingDocuments, type Waiter } from './waiting-documents.ts';

export interface AdmissionLimits {
  /** Documents one account may have in flight on this gateway. */
  perAccount: number;
  /** Their estimated pages together: a few documents at the bound, or many ordinary ones. */
  pagesPerAccount: number;
  /** Documents that may wait on this gateway, of all accounts. */
  waiting: number;
  /** A document that would wait longer is rejected. */
  waitMs: number;
}

const DEFAULTS: AdmissionLimits = { perAccount: 32, pagesPerAccount: 450, waiting: 200, waitMs: 10_000 };

/** Documents ahead with which a request is always admitted. They are too few to estimate a wait from. */
const ALWAYS = 8;
/** Factor by which the queue may be overfull for accounts that have no document in it. */
const NEWCOMERS = 1.25;
/** Callers that were rejected together should not come back together. */
const JITTER_SECONDS = 2;
const RETRY_AFTER_SECONDS_MAX = 30;
/** An account that used more than this share of the renderers' time, and at least SHARE_LEAST_MS of it, waits while another account's document waits. */
const SHARE = 2 / 3;
const SHARE_LEAST_MS = 10_000;

/** A place among the documents in flight. */
interface Permit {
  /** Documents of the same account that were in flight before it: it queues behind as many of every other account. */
  position: number;
  /**
   * @param offSlotMs how long it kept no renderer busy, such as waiting for an image: that delays no other document.
   * @param printMs how long it kept a page busy.
   */
  release(how: 'done' | 'failed', spent?: { offSlotMs?: number | undefined; printMs?: number | undefined }): void;
}

const OVER_SHARE: Rejection = { code: 'too_many_documents', seconds: 1 };

interface Arrival {
  accountId: Id;
  requestId: string;
  /** Pages as libs/rules/documents/layout-work.ts estimates them. */
  pages?: number;
  isSlow?: boolean;
  /** True when it may wait long for a host that is slow to send its image. */
  hasRemoteImages?: boolean;
}

export interface PrintAdmission {
  /**
   * Called before a body is read, and cheap. Reserves a place for the request for a moment, so that of many that arrive together only
   * as many continue as there are places.
   */
  reserve(requestId: string, accountId: Id): Rejection | undefined;
  /** The request has ended without a document. */
  cancelReservation(requestId: string): void;
  /**
   * Why a document of this account cannot be admitted now; undefined when it can. A caller without an account has the capacity of a new one.
   * @param requestId of the request that asks: the place that it reserved itself is free for it.
   */
  rejection(accountId: Id | undefined, requestId?: string): Rejection | undefined;
  /** @throws AppError with Retry-After when it is rejected. */
  admit(arrival: Arrival): Permit;
}

export function openAdmission(limits: Partial<AdmissionLimits> = {}): PrintAdmission {
  const { perAccount, pagesPerAccount, waiting: waitingMax, waitMs: waitMax } = { ...DEFAULTS, ...limits };
  const waiting = openWaitingDocuments();
  const measures = { short: openMeasure(), slow: openMeasure() };
  const spent = openShares();
  let lastDoneAt = 0;

  function expectedWaitMs(queued: number, isSlow: boolean): number {
    const oldest = waiting.oldest();
    // An old document does not count as stuck while others finish: its renderer was killed, or it waits for an image.
    const stuckMs = oldest ? performance.now() - Math.max(oldest.since, lastDoneAt) : 0;
    return Math.max(stuckMs, queued * measures[isSlow ? 'slow' : 'short'].averageMs());
  }

  function isFull(accountId: Id | undefined, requestId: string | undefined): boolean {
    const present = waiting.present(requestId);
    if (present < waitingMax) return false;
    return present >= waitingMax * NEWCOMERS || (accountId !== undefined && waiting.of(accountId).documents > 0);
  }

  function rejection(accountId: Id | undefined, isSlow = false, requestId?: string): Rejection | undefined {
    waiting.dropOldReservations();
    const queued = waiting.ahead(accountId, isSlow);
    const waitMs = expectedWaitMs(queued, isSlow);
    const isLate = (queued >= ALWAYS || waiting.count() >= ALWAYS) && waitMs > waitMax;
    if (isFull(accountId, requestId) || isLate) return busy(waitMs);
    if (accountId === undefined) return undefined;
    if (waiting.of(accountId).documents >= perAccount) return OVER_SHARE;
    return isOverShare(accountId) ? OVER_SHARE : undefined;
  }

  /** Renderer time is shared by account, once there are two that want it. */
  function isOverShare(accountId: Id): boolean {
    const { own, all } = spent.of(accountId);
    if (own < SHARE_LEAST_MS || own < all * SHARE) return false;
    return waiting.isAnotherDelayed(accountId);
  }

  return {
    reserve(requestId, accountId) {
      const rejected = rejection(accountId);
      if (!rejected) waiting.reserve(requestId, accountId);
      return rejected;
    },
    cancelReservation: waiting.cancelReservation,
    rejection: (accountId, requestId) => rejection(accountId, false, requestId),
    admit({ accountId, requestId, pages = 1, isSlow = false, hasRemoteImages = false }) {
      waiting.cancelReservation(requestId);
      const rejected = rejection(accountId, isSlow);
      if (rejected) throw errorOf(rejected);
      const own = waiting.of(accountId);
      // A single document is always admitted, also one at the bound of pages.
      if (own.documents > 0 && own.pages + pages > pagesPerAccount) throw errorOf(OVER_SHARE);
      const queued = waiting.ahead(accountId, isSlow) + 1;
      const waiter: Waiter = { accountId, since: performance.now(), pages, isSlow, hasRemoteImages };
      waiting.add(waiter);

      return {
        position: own.documents,
        release(how, { offSlotMs = 0, printMs = 0 } = {}) {
          if (!waiting.remove(waiter)) return;
          spent.add(accountId, printMs);
          if (how === 'failed') return;
          lastDoneAt = performance.now();
          const tookMs = Math.max(0, lastDoneAt - waiter.since - offSlotMs);
          measures[isSlow ? 'slow' : 'short'].add(queued, tookMs);
        },
      };
    },
  };
}

function busy(waitMs: number): Rejection {
  const seconds = Math.min(Math.max(waitMs / 1_000, 1), RETRY_AFTER_SECONDS_MAX) + Math.random() * JITTER_SECONDS;
  return {
    code: 'too_many_waiting_documents',
    seconds: Math.ceil(seconds),
  };
}
