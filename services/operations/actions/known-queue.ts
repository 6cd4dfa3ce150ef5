// Finds the queue that a path names, and reports an unavailable Redis.
import { errorText } from '#libs/errors.ts';
import type { JobDefinition } from '#libs/jobs/catalog.ts';
import { findDefinition } from '#libs/jobs/control.ts';
import { isUnanswered } from '#libs/mongo/errors.ts';
import { PageError } from '#libs/pages/page-error.ts';

export function requireQueue(name: unknown): JobDefinition<unknown> {
  const definition = typeof name === 'string' ? findDefinition(name) : undefined;
  if (!definition) throw new PageError(404, 'No such queue');
  return definition;
}

/** Waits for a reading. @throws PageError 503 in place of the error of Redis. Errors of MongoDB stay unchanged. */
export async function orUnavailable<Value>(reading: Promise<Value>): Promise<Value> {
  return reading.catch((error) => {
    if (error instanceof PageError || isUnanswered(error)) throw error;
    const problem = errorText(error);
    throw new PageError(503, `Redis is unavailable (${problem}).`, { cause: error });
  });
}

/** Returns the 404 for a job that the queue does not have. */
export function jobGone(id: string): PageError {
  return new PageError(404, `The job ${id} no longer exists: it was completed or removed`);
}
