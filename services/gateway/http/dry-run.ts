// `?dry_run=true` on creates: checked and computed like the real thing, and nothing is stored.
import Joi from 'joi';
import { fieldProblem } from './read-input.ts';
import type { Route } from './route.ts';

export interface DryRun {
  dry_run: boolean;
}

export const dryRun = Joi.object<DryRun, true>({
  dry_run: Joi.boolean()
    .default(false)
    .description('Checks and computes everything, stores nothing and draws no number'),
});

/** True of a row that would do the real thing, whatever the caller hopes. */
export function knowsNoDryRun({ method, storesNothing, query }: Route): boolean {
  return method !== 'get' && !storesNothing && !('dry_run' in (query?.describe()['keys'] ?? {}));
}

/** Who asks for a rehearsal and gets the real thing has lost something. @throws AppError 400. */
export function refuseDryRun(query: object, details: Route['details']): void {
  if (Object.hasOwn(query, 'dry_run')) throw fieldProblem('dry_run', 'dry_run is not known to this operation', details);
}
