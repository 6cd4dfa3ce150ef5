// The environment variables of the commands. A secret may come from a file, as in the services.
import Joi from 'joi';
import { ConfigError } from '#libs/service/config-error.ts';
import { readEnv, variables } from '#libs/service/env.ts';

export interface Settings {
  MONGODB_URI?: string;
  REDIS_URL?: string;
  REDIS_PREFIX: string;
  SECRET_KEY?: string;
  OUTBOUND_ALLOW: string;
  ACCOUNT_STORAGE_MEGABYTES: number;
}

const shape = {
  MONGODB_URI: variables.MONGODB_URI.optional(),
  REDIS_URL: variables.REDIS_URL.optional(),
  REDIS_PREFIX: variables.REDIS_PREFIX,
  SECRET_KEY: variables.SECRET_KEY.optional(),
  OUTBOUND_ALLOW: variables.OUTBOUND_ALLOW,
  ACCOUNT_STORAGE_MEGABYTES: variables.ACCOUNT_STORAGE_MEGABYTES,
};

/** Reads the settings. @throws ConfigError that names every problem at once. */
export function readSettings(env: NodeJS.ProcessEnv): Readonly<Settings> {
  return readEnv(env, Joi.object<Settings>(shape));
}

/** Reads the valid settings, for the doctor, which continues with them. */
export function readUsableSettings(env: NodeJS.ProcessEnv): Readonly<Settings> {
  const usable = Object.entries(shape).map(([name, variable]) => {
    const own = Object.fromEntries([name, `${name}_FILE`].flatMap((key) => (env[key] ? [[key, env[key]]] : [])));
    try {
      return readEnv(own, Joi.object({ [name]: variable }));
    } catch (error) {
      if (error instanceof ConfigError) return readEnv({}, Joi.object({ [name]: variable }));
      throw error;
    }
  });
  return Object.assign({}, ...usable) as Settings;
}
