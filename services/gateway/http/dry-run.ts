// `?dry_run=true` on creates: checked and computed like the real thing, and nothing is stored.
import Joi from 'joi';

export interface DryRun {
  dry_run: boolean;
}

export const dryRun = Joi.object<DryRun, true>({
  dry_run: Joi.boolean()
    .default(false)
    .description('Checks and computes everything, stores nothing and draws no number'),
});
