// The variables of the scheduler.
import Joi from 'joi';
import { type RecordsConfig, readEnv, recordsVariables, variables } from '#libs/service/env.ts';

export interface SchedulerConfig extends RecordsConfig {
  ACCOUNT_STORAGE_MEGABYTES: number;
}

const { ACCOUNT_STORAGE_MEGABYTES } = variables;

export const configShape = Joi.object<SchedulerConfig, true>({ ...recordsVariables, ACCOUNT_STORAGE_MEGABYTES });

export function readConfig(env: NodeJS.ProcessEnv): Readonly<SchedulerConfig> {
  return readEnv(env, configShape);
}
