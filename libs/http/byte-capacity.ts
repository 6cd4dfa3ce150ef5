// Limits the bytes of large bodies and responses in memory: a slow upload, or a response that is not read, occupies memory all the time.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Id } from '../models/tenant.ts';
import { errorOf, type Rejection } from './rejection.ts';
import { whenClosed } from './when-closed.ts';

export interface ByteCapacityLimits {
  /** Bytes of one account in this process. */
  perAccount: number;
  /** Bytes of all accounts in this process. */
  all: number;
}

const MIB = 1024 * 1024;
/** The limits suit a gateway of 512 MiB: a body that is parsed and queued takes several times its bytes. */
const DEFAULTS: ByteCapacityLimits = { perAccount: 32 * MIB, all: 96 * MIB };
/** Smaller bodies and responses are not counted: too few of them are in memory together to matter. */
const SMALL_BYTES = 64 * 1024;

export interface CapacityRejections {
  full: Rejection;
  overShare: Rejection;
}

const UPLOAD_REJECTIONS: CapacityRejections = {
  full: { code: 'upload_capacity_exhausted', seconds: 2 },
  overShare: { code: 'too_many_uploads', seconds: 1 },
};

/** The rejections of a capacity for responses that wait to be read. */
export const RESPONSE_REJECTIONS: CapacityRejections = {
  full: { code: 'response_capacity_exhausted', seconds: 2 },
  overShare: { code: 'too_many_unread_responses', seconds: 1 },
};

export interface ByteCapacity {
  /**
   * Called before a body is read, or a response sent.
   * @throws AppError 503 when the process is full, 429 when the account has its share, both with Retry-After.
   */
  reserve(wanted: WantedBytes): BytePermit;
  /** @throws AppError as `reserve` does when there is no room at all. */
  requireRoom(accountId: Id): void;
}

export interface WantedBytes {
  accountId: Id;
  bytes: number;
  /** True when the bytes are in memory already and are only counted, such as the response to a change that has happened. */
  isCertain?: boolean;
}

export interface BytePermit {
  /** Called with the real size, once it is known. */
  shrink(bytes: number): void;
  release(): void;
}

export function openByteCapacity(
  limits: ByteCapacityLimits = DEFAULTS,
  { full, overShare }: CapacityRejections = UPLOAD_REJECTIONS,
): ByteCapacity {
  const ofAccount = new Map<Id, number>();
  let reserved = 0;

  function add(accountId: Id, bytes: number) {
    const share = (ofAccount.get(accountId) ?? 0) + bytes;
    if (share > 0) ofAccount.set(accountId, share);
    else ofAccount.delete(accountId);
    reserved += bytes;
  }

  return {
    requireRoom(accountId) {
      if (reserved >= limits.all) throw errorOf(full);
      if ((ofAccount.get(accountId) ?? 0) >= limits.perAccount) throw errorOf(overShare);
    },
    reserve({ accountId, bytes, isCertain = false }) {
      let own = 0;
      const permit: BytePermit = {
        shrink(to) {
          const rest = to < SMALL_BYTES ? 0 : Math.min(to, own);
          add(accountId, rest - own);
          own = rest;
        },
        release: () => permit.shrink(0),
      };
      if (bytes < SMALL_BYTES) return permit;
      if (!isCertain) {
        if (reserved + bytes > limits.all) throw errorOf(full);
        if ((ofAccount.get(accountId) ?? 0) + bytes > limits.perAccount) throw errorOf(overShare);
      }
      add(accountId, bytes);
      own = bytes;
      return permit;
    },
  };
}

/** Reserves bytes until the response is closed. */
export function reserveUntilClosed(capacity: ByteCapacity, wanted: WantedBytes, response: ServerResponse): BytePermit {
  const permit = capacity.reserve(wanted);
  if (wanted.bytes >= SMALL_BYTES) whenClosed(response, permit.release);
  return permit;
}

/** The most bytes that the body of a request can have. One that announces too many is rejected without being read. */
export function bytesToCome({ headers }: Pick<IncomingMessage, 'headers'>, limit: number): number {
  if (headers['transfer-encoding'] !== undefined) return limit;
  const announced = Number(headers['content-length'] ?? 0);
  return announced > limit ? 0 : announced;
}
