// Why a request is not admitted now, and when it may come again.
import { AppError } from '#libs/errors.ts';

export interface Rejection {
  /** 503: the gateway is full. 429: the account has its share. */
  status: 503 | 429;
  message: string;
  /** Seconds after which a retry makes sense. */
  seconds: number;
}

/** A rejection as an error. */
export function errorOf({ status, message, seconds }: Rejection): AppError {
  return new AppError(status, message, { headers: { 'Retry-After': String(seconds) } });
}
