// The environment of each service.
import { configShape as rendererShape } from '../../services/renderer/config.ts';
import { compiledFolder } from '../backends/cache-folder.ts';
import type { RedisUser } from '../redis/users.ts';

export interface Chosen {
  host: string;
  outboundAllow: string;
}

type RedisUrl = string | ((user: RedisUser) => string); // one for all services, or one per Redis user

interface RendererAddresses {
  env: NodeJS.ProcessEnv; // the environment of `npm start`, with everything that the user set
  config: Chosen;
  redisUrl: RedisUrl;
  chromiumPath: string;
}

export interface Addresses extends RendererAddresses {
  port: number;
  operationsPort: number;
  portalPort: number;
  mongodbUri: string;
  secretKey: string;
}

// The variables that any program needs. Stores get no others, and the renderer gets only its own settings besides: it
// processes untrusted content, so it must not see the database's address or secrets of the user's shell.
const EVERYBODY_GETS = /^(PATH|HOME|TMPDIR|TZ|LANG|LC_\w+|LD_LIBRARY_PATH)$/;
const RENDERER_READS = Object.keys(rendererShape.describe()['keys'] as object).join('|');
// Whole prefixes are among these, so that the renderer sees a misspelt name of its own, and the variables that
// OpenTelemetry reads by itself.
const RENDERER_GETS = new RegExp(
  `^((${RENDERER_READS})(_FILE)?|NODE_COMPILE_CACHE|(RENDER|RECYCLE|CHROMIUM|OTEL)\\w*)$`,
);

export function bareEnvironment(env: NodeJS.ProcessEnv, ...more: RegExp[]): NodeJS.ProcessEnv {
  const isGiven = (name: string) => [EVERYBODY_GETS, ...more].some((names) => names.test(name));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isGiven(name)));
}

// Returns the variable of Node's compile cache.
export function compiledCode(env: NodeJS.ProcessEnv) {
  return { NODE_COMPILE_CACHE: compiledFolder(env) };
}

export type ServiceName = 'gateway' | 'mail' | 'operations' | 'portal' | 'renderer' | 'scheduler' | 'webhooks';

// The secrets that only some services get: each of the others would be one more way to them.
const SECRETS = ['SECRET_KEY', 'SMTP_URL'];

export function environments(addresses: Addresses) {
  const { config, mongodbUri: MONGODB_URI, redisUrl, secretKey: SECRET_KEY } = addresses;
  const urlFor = (user: RedisUser) => urlOf(redisUrl, user);
  const OUTBOUND_ALLOW = config.outboundAllow;
  const PORTAL_URL = addresses.env['PORTAL_URL'] || urlOfPort(config.host, addresses.portalPort);
  const env = { ...withCompiledCode(addresses.env), PORTAL_URL };
  const withoutSecrets = without(env, SECRETS);
  const gateway = { ...withoutSecrets, HOST: config.host, PORT: String(addresses.port) };
  return {
    gateway: { ...gateway, MONGODB_URI, REDIS_URL: urlFor('gateway'), SECRET_KEY, OUTBOUND_ALLOW },
    webhooks: { ...withoutSecrets, MONGODB_URI, REDIS_URL: urlFor('webhooks'), SECRET_KEY, OUTBOUND_ALLOW },
    mail: { ...env, MONGODB_URI, REDIS_URL: urlFor('mail'), SECRET_KEY, OUTBOUND_ALLOW },
    portal: {
      ...withoutSecrets,
      PORTAL_HOST: config.host,
      PORTAL_PORT: String(addresses.portalPort),
      MONGODB_URI,
      REDIS_URL: urlFor('portal'),
      SECRET_KEY,
      OUTBOUND_ALLOW,
    },
    operations: {
      ...withoutSecrets,
      OPERATIONS_HOST: '127.0.0.1',
      OPERATIONS_PORT: String(addresses.operationsPort),
      MONGODB_URI,
      REDIS_URL: urlFor('operations'),
    },
    scheduler: { ...withoutSecrets, MONGODB_URI, REDIS_URL: urlFor('scheduler') },
    renderer: rendererEnvironment(addresses),
  };
}

// Returns the environment of the renderer, which does without MongoDB and may start before it.
export function rendererEnvironment({ env, config, redisUrl, chromiumPath }: RendererAddresses): NodeJS.ProcessEnv {
  return {
    ...bareEnvironment(withCompiledCode(env), RENDERER_GETS),
    REDIS_URL: urlOf(redisUrl, 'renderer'),
    OUTBOUND_ALLOW: config.outboundAllow,
    CHROMIUM_PATH: chromiumPath,
  };
}

// Returns the address of a port of this machine.
export function urlOfPort(host: string, port: number): string {
  // A wildcard address can be listened on but not called.
  const called = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${called.includes(':') ? `[${called}]` : called}:${port}`;
}

// Returns the address of Redis for one of its users.
export function urlOf(redisUrl: RedisUrl, user: RedisUser): string {
  return typeof redisUrl === 'string' ? redisUrl : redisUrl(user);
}

function without(env: NodeJS.ProcessEnv, names: string[]): NodeJS.ProcessEnv {
  const left = new Set(names.flatMap((name) => [name, `${name}_FILE`]));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !left.has(name)));
}

function withCompiledCode(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, ...compiledCode(env) };
}
