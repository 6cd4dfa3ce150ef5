// Finds the queue that a path names, and reports an unavailable Redis.
import { errorText } from '#libs/errors.ts';
import type { JobDefinition } from '#libs/jobs/catalog.ts';
import { findDefinition } from '#libs/jobs/control.ts';
import { isUnanswered } from '#libs/mongo/errors.ts';
import { DashboardError } from '../views/dashboard-error.ts';

export function requireQueue(name: unknown): JobDefinition<unknown> {
  const definition = typeof name === 'string' ? findDefinition(name) : undefined;
  if (!definition) throw new DashboardError(404, 'No such queue');
  return definition;
}

/** Waits for a reading. @throws DashboardError 503 in place of the error of Redis. Errors of MongoDB stay unchanged. */
export async function orUnavailable<Value>(reading: Promise<Value>): Promise<Value> {
  return reading.catch((error) => {
    if (error instanceof DashboardError || isUnanswered(error)) throw error;
    const problem = errorText(error);
    throw new DashboardError(503, `Redis is unavailable (${problem}).`, { cause: error });
  });
}

/** Returns the 404 for a job that the queue does not have. */
export function jobGone(id: string): DashboardError {
  return new DashboardError(404, `The job ${id} no longer exists: it was completed or removed`);
}
