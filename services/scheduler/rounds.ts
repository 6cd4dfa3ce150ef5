// When a round over all accounts is not worth going on with.
import { isUnavailable } from '#libs/mongo/errors.ts';

/** @throws the error of a database that is unavailable: every other record would fail as well, each after a timeout. */
export function requireAvailable(error: unknown): void {
  if (isUnavailable(error) || (error instanceof Error && isUnavailable(error.cause))) throw error;
}
