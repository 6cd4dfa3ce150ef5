// Why a request is not admitted now, and when it may come again.
import { type AppError, appError, retryAfter } from '../errors.ts';

export interface Rejection {
  /** 503 when the gateway is full, 429 when the account has its share. */
  code:
    | 'response_capacity_exhausted'
    | 'too_many_documents'
    | 'too_many_unread_responses'
    | 'too_many_uploads'
    | 'too_many_waiting_documents'
    | 'upload_capacity_exhausted';
  /** Seconds after which a retry makes sense. */
  seconds: number;
}

/** A rejection as an error. */
export function errorOf({ code, seconds }: Rejection): AppError {
  return appError(code, undefined, { headers: retryAfter(seconds) });
}
