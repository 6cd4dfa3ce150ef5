// The variables of the operations dashboard.
import Joi from 'joi';
import {
  hostNames,
  NAMES_RULE,
  proxyCount,
  type RecordsConfig,
  readEnv,
  recordsVariables,
  variables,
} from '#libs/service/env.ts';

export interface OperationsConfig extends RecordsConfig {
  OPERATIONS_HOST: string;
  OPERATIONS_PORT: number;
  OPERATIONS_ALLOWED_HOSTS?: string;
  OPERATIONS_TRUST_PROXY: number;
  RATE_LIMIT_DOCUMENTS: number;
  ACCOUNT_STORAGE_MEGABYTES: number;
  ACCOUNT_FILES_MEGABYTES: number;
}

export const configShape = Joi.object<OperationsConfig, true>({
  OPERATIONS_HOST: Joi.string()
    .default('0.0.0.0')
    .description('Address the operations dashboard listens on; never expose it to the public'),
  OPERATIONS_PORT: Joi.number().port().default(8090).description('Port of the operations dashboard'),
  OPERATIONS_ALLOWED_HOSTS: hostNames.description(
    `Names by which browsers reach the operations dashboard, ${NAMES_RULE}`,
  ),
  OPERATIONS_TRUST_PROXY: proxyCount.description(
    'How many proxies in front of the operations dashboard set X-Forwarded-For',
  ),
  // The limits that the gateways apply, to show the use of them.
  RATE_LIMIT_DOCUMENTS: variables.RATE_LIMIT_DOCUMENTS,
  ACCOUNT_STORAGE_MEGABYTES: variables.ACCOUNT_STORAGE_MEGABYTES,
  ACCOUNT_FILES_MEGABYTES: variables.ACCOUNT_FILES_MEGABYTES,
  ...recordsVariables,
});

export function readConfig(env: NodeJS.ProcessEnv): Readonly<OperationsConfig> {
  return readEnv(env, configShape);
}
