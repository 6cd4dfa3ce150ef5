// The variables of the portal.
import Joi from 'joi';
import { proxyCount, type RecordsConfig, readEnv, recordsVariables, variables } from '#libs/service/env.ts';

export interface PortalConfig extends RecordsConfig {
  PORTAL_HOST: string;
  PORTAL_PORT: number;
  PORTAL_URL?: string;
  PORTAL_TRUST_PROXY: number;
}

export const configShape = Joi.object<PortalConfig, true>({
  PORTAL_HOST: Joi.string().default('0.0.0.0').description('Address the public port of the portal listens on'),
  PORTAL_PORT: Joi.number().port().default(8070).description("Public port of the clients' pages"),
  PORTAL_URL: variables.PORTAL_URL,
  PORTAL_TRUST_PROXY: proxyCount.description('How many proxies in front of the portal set X-Forwarded-For'),
  ...recordsVariables,
});

export function readConfig(env: NodeJS.ProcessEnv): Readonly<PortalConfig> {
  return readEnv(env, configShape);
}
