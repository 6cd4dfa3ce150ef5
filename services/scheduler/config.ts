// Every variable the scheduler reads.
import Joi from 'joi';
import { readEnv, variables } from '#libs/service/env.ts';

export interface Config {
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
