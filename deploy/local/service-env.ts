// What each service is told by its environment, and what it is not.
import type { LocalConfig } from './config.ts';

export interface Addresses {
  env: NodeJS.ProcessEnv; // ours, the source of everything a person set
  config: LocalConfig;
  port: number;
  mongodbUri: string;
  redisUrl: string;
  secretKey: string;
  chromiumPath: string;
}

// The renderer lays out what strangers send, so of our environment it gets what a browser needs and its own settings,
// and neither the database nor a secret a person may have in their shell.
const RENDERER_GETS =
  /^(PATH|HOME|TMPDIR|TZ|LANG|LC_\w+|LOG_LEVEL|FONTCONFIG_\w+|REDIS_PREFIX|(RENDER|CHROMIUM|IMAGE)\w*)$/;

export function environments(addresses: Addresses) {
  const { env, config, mongodbUri: MONGODB_URI, redisUrl: REDIS_URL, secretKey: SECRET_KEY } = addresses;
  const OUTBOUND_ALLOW = config.outboundAllow;
  const rest = { ...env };
  // A file that names a value would contradict the value we give.
  for (const name of ['MONGODB_URI_FILE', 'REDIS_URL_FILE', 'SECRET_KEY_FILE']) delete rest[name];
  const bare = Object.fromEntries(Object.entries(env).filter(([name]) => RENDERER_GETS.test(name)));
  const gateway = { ...rest, HOST: config.host, PORT: String(addresses.port) };
  return {
    gateway: { ...gateway, MONGODB_URI, REDIS_URL, SECRET_KEY, OUTBOUND_ALLOW },
    webhooks: { ...rest, MONGODB_URI, REDIS_URL, SECRET_KEY, OUTBOUND_ALLOW },
    renderer: { ...bare, REDIS_URL, OUTBOUND_ALLOW, CHROMIUM_PATH: addresses.chromiumPath },
    admin: { ...rest, MONGODB_URI, REDIS_URL, SECRET_KEY, OUTBOUND_ALLOW },
  };
}
