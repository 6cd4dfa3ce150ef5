// Aborts work when its caller has disconnected.
import type { Response } from 'express';
import { appError } from '#libs/errors.ts';
import { whenClosed } from '#libs/http/when-closed.ts';

/** Aborted when the connection ends before the response is sent, or has ended already. */
export function whenGone(response: Response): AbortSignal {
  const controller = new AbortController();
  const look = () => {
    // The response is never read; its status keeps it out of the failures in the log.
    if (!response.writableFinished) controller.abort(appError('caller_gone'));
  };
  whenClosed(response, look);
  return controller.signal;
}
