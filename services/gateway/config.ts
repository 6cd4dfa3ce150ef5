// Every variable the gateway reads.
import Joi from 'joi';
import { perMinute, proxyCount, type RecordsConfig, readEnv, recordsVariables, variables } from '#libs/service/env.ts';
import { readOrigins } from './http/cross-origin.ts';

export interface GatewayConfig extends RecordsConfig {
  HOST: string;
  PORT: number;
  SECRET_KEY: string;
  OUTBOUND_ALLOW: string;
  CORS_ORIGINS: string;
  TRUST_PROXY: number;
  RATE_LIMIT_REQUESTS: number;
  RATE_LIMIT_DOCUMENTS: number;
  RATE_LIMIT_REFUSALS: number;
  PORTAL_URL?: string;
  ACCOUNT_STORAGE_MEGABYTES: number;
  ACCOUNT_FILES_MEGABYTES: number;
}

export const configShape = Joi.object<GatewayConfig, true>({
  HOST: variables.HOST,
  PORT: Joi.number().port().default(8080).description('Public port of the API'),
  ...recordsVariables,
  SECRET_KEY: variables.SECRET_KEY,
  OUTBOUND_ALLOW: variables.OUTBOUND_ALLOW,
  CORS_ORIGINS: Joi.string()
    .allow('')
    .default('')
    .custom((value: string, { message }) => {
      const { wrong } = readOrigins(value);
      const custom = `CORS_ORIGINS must list origins such as https://app.example.com, not ${wrong.join(', ')}`;
      return wrong.length > 0 ? message({ custom }) : value;
    })
    .description(
      'Comma-separated origins, each in full, whose pages may call the API from a browser (CORS); none unless set',
    ),
  TRUST_PROXY: proxyCount.description('How many proxies in front of the gateway set X-Forwarded-For'),
  RATE_LIMIT_REQUESTS: perMinute(6_000).description(
    'Requests of one API key per minute, twice as many of all keys of an account; 0 is no limit',
  ),
  RATE_LIMIT_DOCUMENTS: variables.RATE_LIMIT_DOCUMENTS,
  RATE_LIMIT_REFUSALS: perMinute(120).description(
    'Requests of one address without a usable key per minute; 0 is no limit',
  ),
  PORTAL_URL: variables.PORTAL_URL,
  ACCOUNT_STORAGE_MEGABYTES: variables.ACCOUNT_STORAGE_MEGABYTES,
  ACCOUNT_FILES_MEGABYTES: variables.ACCOUNT_FILES_MEGABYTES,
});

export function readConfig(env: NodeJS.ProcessEnv): Readonly<GatewayConfig> {
  return readEnv(env, configShape);
}
