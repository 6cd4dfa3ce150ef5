// Reads environment variables once, at start. An invalid environment stops the process with a list of all problems.
import { readFileSync } from 'node:fs';
import Joi from 'joi';
import { parseAllowList } from '../outbound/public-address.ts';
import { readRedisUrl } from '../redis/address.ts';
import { ConfigError } from './config-error.ts';
import { findMisspelt } from './known-variables.ts';

/**
 * Reads and checks the environment.
 * - `NAME_FILE` may replace `NAME` and names a file with the value, as for secrets in containers.
 * - Variables that the shape does not name are ignored, except misspelt ones of Billhook (see known-variables.ts):
 *   their values would silently have no effect.
 * @param env usually `process.env`.
 * @param shape a joi object whose keys are the variables of this service.
 * @returns a frozen object with converted values.
 * @throws ConfigError that names every problem at once.
 */
export function readEnv<Values extends object>(
  env: NodeJS.ProcessEnv,
  shape: Joi.ObjectSchema<Values>,
): Readonly<Values> {
  const problems: string[] = [];
  const given: Record<string, string> = {};
  for (const name of Object.keys(shape.describe()['keys'] ?? {})) {
    // Compose files and manifests write unset variables as empty strings.
    const file = env[`${name}_FILE`] || undefined;
    if (file !== undefined && env[name]) problems.push(`${name} and ${name}_FILE are both set, keep one`);
    const value = file === undefined ? env[name] : readSecretFile(`${name}_FILE`, file, problems);
    if (value !== undefined && value !== '') given[name] = value;
  }
  const { error, value } = shape.validate(given, { abortEarly: false, errors: { wrap: { label: false } } });
  problems.push(...(error?.details.map(({ message }) => message) ?? []), ...findMisspelt(env));
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(value as Values);
}

function readSecretFile(name: string, path: string, problems: string[]): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    problems.push(
      `${name} names a file that cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`,
    );
    return undefined;
  }
}

/** The form is not a standard URI: it may name several hosts, each with its own port. */
const MONGODB_URI_FORM = /^mongodb(?:\+srv)?:\/\/[^\s/]+/;

export const NAMES_RULE =
  'separated by commas, such as ops.example.com; IP addresses, names without a dot and names of Kubernetes services are always allowed';

/** A variable with the host names for which an internal port responds, see allowed-hosts.ts. */
export const hostNames = Joi.string()
  .pattern(/^[\w.-]+(,[\w.-]+)*$/)
  .messages({ 'string.pattern.base': '{{#label}} must be host names separated by commas, without ports' });

/** A variable with the number of proxies in front that set X-Forwarded-For. */
export const proxyCount = Joi.number().integer().min(0).max(10).default(0);

/**
 * All keys of an account together have this many times the rate limit of one key: an account has a hundred keys, and a key
 * with `keys:write` makes them.
 */
export const ACCOUNT_RATE_FACTOR = 2;

/** A variable with a number per minute. */
export const perMinute = (standard: number) => Joi.number().integer().min(0).max(10_000_000).default(standard);

/** Variables that more than one service reads, so that they mean the same everywhere. */
export const variables = {
  MONGODB_URI: Joi.string()
    .pattern(MONGODB_URI_FORM)
    // The message omits the value, which may contain a password.
    .messages({ 'string.pattern.base': '{{#label}} must be mongodb://… or mongodb+srv://…' })
    .required()
    .description(
      'MongoDB replica set, best with all its members (mongodb://a,b,c/billhook?replicaSet=rs0); transactions need one',
    ),
  REDIS_URL: Joi.string()
    .custom((value: string, { message }) => {
      const { problems } = readRedisUrl(value);
      // The message omits the value, which may contain a password.
      return problems ? message({ custom: '{{#label}} {{#problems}}' }, { problems: problems.join('; ') }) : value;
    })
    .required()
    .description(
      'Redis 6.2 or later with maxmemory-policy noeviction: redis://, rediss://, unix://USER:PASSWORD@/path/of/the.sock, or several hosts with Sentinel or Redis Cluster, see below',
    ),
  REDIS_PREFIX: Joi.string()
    .pattern(/^[\w-]{1,40}$/)
    .messages({ 'string.pattern.base': '{{#label}} must have 1 to 40 letters, digits, dashes or underscores' })
    .default('billhook')
    .description('Prefix of every key and channel in Redis; two systems on one Redis need different ones'),
  LOG_LEVEL: Joi.string()
    .valid('trace', 'debug', 'info', 'warn', 'error', 'silent')
    .default('info')
    .description('Minimum log level'),
  HOST: Joi.string().default('0.0.0.0').description('Address the public port listens on'),
  HEALTH_HOST: Joi.string()
    .default('0.0.0.0')
    .description('Address the health port listens on; never expose it to the public'),
  HEALTH_ALLOWED_HOSTS: hostNames.description(`Names by which scrapers reach the health port, ${NAMES_RULE}`),
  HEALTH_PORT: Joi.number().port().description('Port of /livez, /readyz and /metrics'),
  OTEL_EXPORTER_OTLP_ENDPOINT: Joi.string()
    .uri({ scheme: ['http', 'https'] })
    .description(
      'OpenTelemetry collector that takes OTLP over HTTP, such as http://collector:4318; without it nothing is traced',
    ),
  OUTBOUND_ALLOW: Joi.string()
    .allow('')
    .default('')
    .custom((value: string, { message }) => {
      try {
        parseAllowList(value);
        return value;
      } catch (error) {
        if (error instanceof ConfigError) return message({ custom: error.problems.join('; ') });
        throw error;
      }
    })
    .description('Comma-separated CIDRs of private addresses that webhooks and images may reach'),
  PORTAL_URL: Joi.string()
    .uri({ scheme: ['http', 'https'] })
    .custom((value: string, { message }) => {
      const { pathname, search, hash } = new URL(value);
      const isOrigin = pathname === '/' && search === '' && hash === '';
      return isOrigin ? new URL(value).origin : message({ custom: '{{#label}} must have no path' });
    })
    .description('Origin at which people reach the portal, such as https://pay.example.com; links begin with it'),
  ACCOUNT_STORAGE_MEGABYTES: Joi.number()
    .integer()
    .min(0)
    .max(100_000_000)
    .default(10_240)
    .description('MiB of records and events that an account may keep; 0 is no limit'),
  ACCOUNT_FILES_MEGABYTES: Joi.number()
    .integer()
    .min(0)
    .max(100_000_000)
    .default(1_024)
    .description('MiB of printed files that the batches of an account may keep; 0 is no limit'),
  RATE_LIMIT_DOCUMENTS: perMinute(120).description(
    'PDF documents of one API key per minute, twice as many of all keys of an account; 0 is no limit',
  ),
  SECRET_KEY: Joi.string()
    .required()
    .pattern(/^[A-Za-z0-9+/]{43}=?(,[A-Za-z0-9+/]{43}=?)*$/)
    // The message omits the value, which would end up in a log.
    .messages({ 'string.pattern.base': '{{#label}} must be base64 of 32 bytes, several separated by commas' })
    .description('Encrypts the secrets in the database; the first of the comma-separated keys encrypts, all decrypt'),
} as const;

const { HEALTH_HOST, HEALTH_ALLOWED_HOSTS, HEALTH_PORT, LOG_LEVEL, OTEL_EXPORTER_OTLP_ENDPOINT } = variables;
const { MONGODB_URI, REDIS_URL, REDIS_PREFIX } = variables;

/** The variables that every service reads. */
export interface ServiceConfig {
  HEALTH_HOST: string;
  HEALTH_ALLOWED_HOSTS?: string;
  HEALTH_PORT?: number;
  REDIS_URL: string;
  REDIS_PREFIX: string;
  LOG_LEVEL: string;
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;
}

export const serviceVariables = {
  HEALTH_HOST,
  HEALTH_ALLOWED_HOSTS,
  HEALTH_PORT,
  REDIS_URL,
  REDIS_PREFIX,
  LOG_LEVEL,
  OTEL_EXPORTER_OTLP_ENDPOINT,
} as const;

/** The variables that every service with records reads. */
export interface RecordsConfig extends ServiceConfig {
  MONGODB_URI: string;
}

export const recordsVariables = { MONGODB_URI, ...serviceVariables } as const;

/** Converts a limit in MiB to bytes. 0 means no limit. */
export function bytesOf(megabytes: number): number | undefined {
  return megabytes === 0 ? undefined : megabytes * 1024 * 1024;
}
