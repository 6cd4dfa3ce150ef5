// Aborts work when its caller has disconnected.
import type { Response } from 'express';
import { AppError } from '#libs/errors.ts';

/** Aborted when the connection ends before the response is sent, or has ended already. */
export function whenGone(response: Response): AbortSignal {
  const controller = new AbortController();
  const look = () => {
    // The response is never read; its status keeps it out of the failures in the log.
    if (!response.writableFinished) controller.abort(new AppError(499, 'The caller has gone'));
  };
  // The caller may have left while the record was read: then no `close` follows.
  if (response.closed) look();
  else response.once('close', look);
  return controller.signal;
}
