// Bounds the bytes of pages and files that readers have not read yet, of one account and of all.
import type { NextFunction, Request, Response } from 'express';
import {
  type ByteCapacityLimits,
  type BytePermit,
  openByteCapacity,
  RESPONSE_REJECTIONS,
  reserveUntilClosed,
} from '#libs/http/byte-capacity.ts';
import type { Id } from '#libs/models/tenant.ts';

const MIB = 2 ** 20;
/** They suit a portal of 512 MiB: a file is in memory twice while it is read. */
const LIMITS: ByteCapacityLimits = { perAccount: 64 * MIB, all: 128 * MIB };

/** Counts every response that is sent, until it is read. */
export function limitUnreadResponses(limits: ByteCapacityLimits = LIMITS) {
  const capacity = openByteCapacity(limits, RESPONSE_REJECTIONS);
  return (_request: Request, response: Response, next: NextFunction) => {
    let permit: BytePermit | undefined;
    let reserved = 0;
    const reserve = (bytes: number) => {
      if (bytes <= reserved) permit?.shrink(bytes);
      else {
        permit?.release();
        reserved = 0;
        // Small responses, such as those of a visitor whose account is not known yet, are not counted.
        const accountId = String(response.locals[ACCOUNT] ?? '');
        permit = reserveUntilClosed(capacity, { accountId, bytes }, response);
      }
      reserved = bytes;
    };
    response.locals[RESERVE] = reserve;
    const send = response.send.bind(response);
    response.send = (body?: unknown) => {
      if (typeof body === 'string' || Buffer.isBuffer(body)) reserve(Buffer.byteLength(body));
      return send(body);
    };
    next();
  };
}

const ACCOUNT = 'accountOfBytes';
const RESERVE = 'reserve';

/** Counts the bytes of this response as those of the account. */
export function countFor(accountId: Id, response: Response | undefined): void {
  if (response) response.locals[ACCOUNT] = accountId;
}

/**
 * Reserves bytes before they are read from the database. The response takes them over when it is sent.
 * @throws AppError 503 when the portal is full, 429 when the account has its share.
 */
export function reserveBytes(response: Response | undefined, bytes: number): void {
  (response?.locals[RESERVE] as ((bytes: number) => void) | undefined)?.(bytes);
}
