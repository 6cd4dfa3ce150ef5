// Decides whether one more large body may be read, or response be sent: what travels slowly, or waits, is in memory all the time.
import type { Request } from 'express';
import type { Id } from '#libs/models/tenant.ts';
import { errorOf, type Rejection } from '../printing/admission.ts';

export interface BodyRoomLimits {
  /** Bytes of one account on this gateway. */
  perAccount: number;
  /** Bytes on this gateway, whoever sends them. */
  all: number;
}

const MIB = 1024 * 1024;
/** Parsed and queued, a body takes several times its bytes: this is for a gateway of 512 MiB. */
const DEFAULTS: BodyRoomLimits = { perAccount: 32 * MIB, all: 96 * MIB };
/** Smaller ones are not counted: so many as would matter do not come together. */
const SMALL_BYTES = 64 * 1024;

export interface RoomRejections {
  full: Rejection;
  overShare: Rejection;
}

const OF_BODIES: RoomRejections = {
  full: { status: 503, message: 'Too much is being sent, please try again later', seconds: 2 },
  overShare: { status: 429, message: 'Too much is being sent at the same time', seconds: 1 },
};

export interface BodyRoom {
  /**
   * Called before a body is read, or a response sent.
   * @throws AppError 503 when there is no room, 429 when the account has its share, both with Retry-After.
   */
  take(body: { accountId: Id; bytes: number }): BodyPlace;
}

export interface BodyPlace {
  /** Once the body is there: it takes only so much, when nobody knew before. */
  shrink(bytes: number): void;
  free(): void;
}

export function openBodyRoom(
  limits: BodyRoomLimits = DEFAULTS,
  { full, overShare }: RoomRejections = OF_BODIES,
): BodyRoom {
  const ofAccount = new Map<Id, number>();
  let taken = 0;

  function add(accountId: Id, bytes: number) {
    const share = (ofAccount.get(accountId) ?? 0) + bytes;
    if (share > 0) ofAccount.set(accountId, share);
    else ofAccount.delete(accountId);
    taken += bytes;
  }

  return {
    take({ accountId, bytes }) {
      let held = 0;
      const place: BodyPlace = {
        shrink(to) {
          const rest = to < SMALL_BYTES ? 0 : Math.min(to, held);
          add(accountId, rest - held);
          held = rest;
        },
        free: () => place.shrink(0),
      };
      if (bytes < SMALL_BYTES) return place;
      if (taken + bytes > limits.all) throw errorOf(full);
      if ((ofAccount.get(accountId) ?? 0) + bytes > limits.perAccount) throw errorOf(overShare);
      add(accountId, bytes);
      held = bytes;
      return place;
    },
  };
}

/** How much the body of a request may come to be. One that says it is too large is refused without being read. */
export function bytesToCome({ headers }: Pick<Request, 'headers'>, limit: number): number {
  if (headers['transfer-encoding'] !== undefined) return limit;
  const announced = Number(headers['content-length'] ?? 0);
  return announced > limit ? 0 : announced;
}
