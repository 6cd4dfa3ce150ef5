// Rounds over the records of all accounts: the failures that end a round, and the report about all others.
import { isUnavailable } from '../mongo/errors.ts';

/** The number of failed records that the error names. */
const NAMED_MAX = 5;

/**
 * Collects failures, so that a record that always fails does not block those after it. The round reports them at its
 * end.
 */
export function collectFailures() {
  const named: Array<{ id: string; error: unknown }> = [];
  let count = 0;
  return {
    /** Adds a failure. @throws as requireAvailable. */
    add(id: string, error: unknown): void {
      requireAvailable(error);
      count += 1;
      if (named.length < NAMED_MAX) named.push({ id, error });
    },
    /**
     * Reports the failures.
     * @param what words for a number: `3 documents failed`.
     * @throws Error when a record failed; its cause is the first error.
     */
    report(what: (count: number) => string): void {
      if (count === 0) return;
      const ids = named.map(({ id }) => id).join(', ');
      throw new Error(`${what(count)}, such as ${ids}; the next round retries`, { cause: named[0]?.error });
    },
  };
}

/** Rethrows the error of an unavailable database. Every other record would fail as well, each after a timeout. */
export function requireAvailable(error: unknown): void {
  if (isUnavailable(error) || (error instanceof Error && isUnavailable(error.cause))) throw error;
}
