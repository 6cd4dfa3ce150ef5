// Every variable the operations dashboard reads.
import Joi from 'joi';
import { hostNames, NAMES_RULE, proxyCount, readEnv, variables } from '#libs/service/env.ts';

export interface Config {
  OPERATIONS_HOST: string;
  OPERATIONS_PORT: number;
  OPERATIONS_ALLOWED_HOSTS?: string;
  OPERATIONS_TRUST_PROXY: number;
  HEALTH_HOST: string;
  HEALTH_ALLOWED_HOSTS?: string;
  HEALTH_PORT?: number;
  MONGODB_URI: string;
  REDIS_URL: string;
  REDIS_PREFIX: string;
  LOG_LEVEL: string;
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;
}

export const configShape = Joi.object<Config, true>({
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
  HEALTH_HOST: variables.HEALTH_HOST,
  HEALTH_ALLOWED_HOSTS: variables.HEALTH_ALLOWED_HOSTS,
  HEALTH_PORT: variables.HEALTH_PORT,
  MONGODB_URI: variables.MONGODB_URI,
  REDIS_URL: variables.REDIS_URL,
  REDIS_PREFIX: variables.REDIS_PREFIX,
  LOG_LEVEL: variables.LOG_LEVEL,
  OTEL_EXPORTER_OTLP_ENDPOINT: variables.OTEL_EXPORTER_OTLP_ENDPOINT,
});

export function readConfig(env: NodeJS.ProcessEnv): Readonly<Config> {
  return readEnv(env, configShape);
}
