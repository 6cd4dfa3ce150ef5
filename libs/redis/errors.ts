// Classifies errors of commands to Redis: no answer came, or Redis rejected the command.
import { TimeoutError } from '../with-timeout.ts';

/** The errors of ioredis that have no class of their own: a command for a lost connection. */
const LOST = new Set(['Connection is closed.', "Stream isn't writeable and enableOfflineQueue options is false"]);

/** True when Redis gave no answer. Whether it ran the command is unknown. */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof TimeoutError || error.name === 'MaxRetriesPerRequestError' || LOST.has(error.message);
}
