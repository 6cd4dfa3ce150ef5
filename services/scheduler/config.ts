// Every variable the scheduler reads.
import Joi from 'joi';
import { type RecordsConfig, readEnv, recordsVariables } from '#libs/service/env.ts';

export type Config = RecordsConfig;

export const configShape = Joi.object<Config, true>(recordsVariables);

export function readConfig(env: NodeJS.ProcessEnv): Readonly<Config> {
  return readEnv(env, configShape);
}
