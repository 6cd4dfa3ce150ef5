// Rounds over the records of all accounts: which failures end one, and how it reports the others.
import { isUnavailable } from '../mongo/errors.ts';

/** The error names this many of the records that failed. */
const NAMED_MAX = 5;

/** A record that always fails must not block the records after it: the round goes on, and reports the failures at its end. */
export function collectFailures() {
  const named: Array<{ id: string; error: unknown }> = [];
  let count = 0;
  return {
    /** @throws as requireAvailable. */
    add(id: string, error: unknown): void {
      requireAvailable(error);
      count += 1;
      if (named.length < NAMED_MAX) named.push({ id, error });
    },
    /** @param what with how many: `3 documents failed`. @throws Error when a record failed; its cause is the first error. */
    report(what: (count: number) => string): void {
      if (count === 0) return;
      const ids = named.map(({ id }) => id).join(', ');
      throw new Error(`${what(count)}, such as ${ids}; the next round retries`, { cause: named[0]?.error });
    },
  };
}

/** @throws the error of a database that is unavailable: every other record would fail as well, each after a timeout. */
export function requireAvailable(error: unknown): void {
  if (isUnavailable(error) || (error instanceof Error && isUnavailable(error.cause))) throw error;
}
