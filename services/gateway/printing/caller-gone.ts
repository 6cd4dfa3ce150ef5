// Notices that nobody waits for the answer any more, so that no work is done for it.
import type { Response } from 'express';
import { AppError } from '#libs/errors.ts';

/** Aborted when the connection ends before the answer did, or has done so already. */
export function whenGone(response: Response): AbortSignal {
  const controller = new AbortController();
  const look = () => {
    // Nobody reads this answer; its status keeps it out of the failures in the log.
    if (!response.writableFinished) controller.abort(new AppError(499, 'The caller has gone'));
  };
  // He may have left while his record was read: nobody is told of that any more.
  if (response.closed) look();
  else response.once('close', look);
  return controller.signal;
}
