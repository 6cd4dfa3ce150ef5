// The variables of the portal.
import Joi from 'joi';
import { proxyCount, type RecordsConfig, readEnv, recordsVariables, variables } from '#libs/service/env.ts';

export interface PortalConfig extends RecordsConfig {
  PORTAL_HOST: string;
  PORTAL_PORT: number;
  PORTAL_URL?: string;
  PORTAL_TRUST_PROXY: number;
  SECRET_KEY: string;
  OUTBOUND_ALLOW: string;
  ACCOUNT_STORAGE_MEGABYTES: number;
}

export const configShape = Joi.object<PortalConfig, true>({
  PORTAL_HOST: Joi.string().default('0.0.0.0').description('Address the public port of the portal listens on'),
  PORTAL_PORT: Joi.number().port().default(8070).description('Public port of the pages that are opened by a link'),
  PORTAL_URL: variables.PORTAL_URL,
  PORTAL_TRUST_PROXY: proxyCount.description('How many proxies in front of the portal set X-Forwarded-For'),
  ...recordsVariables,
  SECRET_KEY: variables.SECRET_KEY,
  OUTBOUND_ALLOW: variables.OUTBOUND_ALLOW,
  ACCOUNT_STORAGE_MEGABYTES: variables.ACCOUNT_STORAGE_MEGABYTES,
});

export function readConfig(env: NodeJS.ProcessEnv): Readonly<PortalConfig> {
  return readEnv(env, configShape);
}
