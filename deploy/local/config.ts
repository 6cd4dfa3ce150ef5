// The options of `npm start`: flags and environment variables.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import Joi from 'joi';
import { ConfigError, EXIT_CONFIG } from '#libs/service/config-error.ts';
import { readEnv, variables } from '#libs/service/env.ts';
import { Failure, reasonOf } from '../backends/failure.ts';
import { findServiceProblems } from './check-services.ts';

export interface LocalConfig {
  host: string;
  port: number;
  operationsPort: number; // 0 takes a free one
  portalPort: number; // 0 takes 8070, or a free one if that is taken
  renderers: number;
  dataFolder: string;
  isWatching: boolean; // starts a service again when its files change
  outboundAllow: string;
  isOutboundOurs: boolean; // OUTBOUND_ALLOW was not set, and the banner names the default
  redisPrefix: string;
  env: NodeJS.ProcessEnv; // the given environment, with `_FILE` variables replaced by the contents of their files
}

interface Variables {
  HOST: string;
  PORT: number;
  OUTBOUND_ALLOW?: string;
  MONGODB_URI?: string;
  REDIS_URL?: string;
  REDIS_PREFIX: string;
  OPERATIONS_PORT: number;
  OPERATIONS_HOST?: string;
  PORTAL_PORT: number;
  PORTAL_URL?: string;
  SECRET_KEY?: string;
  SMTP_URL?: string;
  MAIL_FROM?: string;
  CHROMIUM_PATH?: string;
}

/** The data folder, relative to where npm runs its scripts. */
export const DEFAULT_DATA_FOLDER = '.billhook';
// The demo receives its webhooks on this machine, which other installations reject.
const LOOPBACK = '127.0.0.0/8,::1/128';
// The most renderers. Each starts its own browser, so a larger number on one machine is a typing mistake.
const RENDERERS_MAX = 16;

const shape = Joi.object<Variables>({
  HOST: Joi.string()
    .ip({ cidr: 'forbidden' })
    .default('127.0.0.1')
    .messages({ 'string.ip': '{{#label}} must be an IP address such as 127.0.0.1' }),
  PORT: Joi.number().port().default(8080),
  OUTBOUND_ALLOW: Joi.string(),
  MONGODB_URI: variables.MONGODB_URI.optional(),
  REDIS_URL: variables.REDIS_URL.optional(),
  REDIS_PREFIX: variables.REDIS_PREFIX,
  OPERATIONS_PORT: Joi.number().port().default(0),
  OPERATIONS_HOST: Joi.string()
    .valid('127.0.0.1')
    .messages({ 'any.only': '{{#label}} must be 127.0.0.1 here: npm start shows its dashboard to this machine alone' }),
  PORTAL_PORT: Joi.number().port().default(0),
  PORTAL_URL: variables.PORTAL_URL,
  SECRET_KEY: variables.SECRET_KEY.optional(),
  // The mail service checks both.
  SMTP_URL: Joi.string(),
  MAIL_FROM: Joi.string(),
  CHROMIUM_PATH: Joi.string(),
});

const CHECKED_BY_SERVICES = ['OUTBOUND_ALLOW', 'SMTP_URL', 'MAIL_FROM'];

// These variables are read here and passed on by value.
const VARIABLES = Object.keys(shape.describe()['keys'] as object);

const HELP = `Billhook on this machine: MongoDB, Redis, Chromium and the seven services with one command.

Usage: npm start -- [--renderers N] [--data DIR] [--watch] [--help]

  --renderers N   how many renderers share the one queue (1 to ${RENDERERS_MAX}, default 1)
  --data DIR      where data, logs, keys and local.json are kept (default ${DEFAULT_DATA_FOLDER})
  --watch         restart a service when one of its source files changes (npm run dev)

Variables:
  PORT            port of the API (default 8080, 0 takes a free one)
  HOST            address of the API (default 127.0.0.1)
  OPERATIONS_PORT port of the operations dashboard, for this machine alone (default 0: a free one)
  PORTAL_PORT     port of the clients' pages (default 8070, or a free one if that is taken)
  PORTAL_URL      address with which links to the clients' pages begin (default: that port of this machine)
  SMTP_URL        SMTP server that takes the mail, with MAIL_FROM as its sender (default: a mailbox that keeps it on this machine)
  MONGODB_URI     use this replica set instead of starting a mongod
  REDIS_URL       use this Redis instead of starting one (appendonly yes, maxmemory-policy noeviction)
  CHROMIUM_PATH   print with this browser
  OUTBOUND_ALLOW  networks that webhooks and images may reach besides public ones (default here ${LOOPBACK})
  SECRET_KEY      encrypts the secrets in the database (default: made once and kept in the data folder)
  WEBHOOK_RETRY_SCALE   multiplies the waits between delivery attempts (default 1)
  LOG_LEVEL       what the services log (default info)
  BILLHOOK_CACHE_DIR    where fetched programs and compiled code are kept (default ~/.cache/billhook)
Everything else in the environment is passed to the services as it is, secrets to those that read them; the renderer gets only what it reads.
What is wrong or misspelt in it is named before anything is started (exit code 78).

The address, the key of the demo account and all process ids are in local.json in the data folder while Billhook runs.
`;

// Reads the options. Returns the help text for --help. @throws Failure (exit code 78) that lists every problem.
export function readConfig(args: string[], env: NodeJS.ProcessEnv): LocalConfig | { help: string } {
  const flags = readFlags(args);
  if (flags.help) return { help: HELP };
  const renderers = Number(flags.renderers ?? 1);
  if (!Number.isInteger(renderers) || renderers < 1 || renderers > RENDERERS_MAX) {
    throw new Failure(`--renderers must be a whole number from 1 to ${RENDERERS_MAX}, not "${flags.renderers}"`, {
      exitCode: EXIT_CONFIG,
    });
  }
  const { chosen, problems } = readVariables(env);
  const config = {
    host: chosen.HOST,
    port: chosen.PORT,
    operationsPort: chosen.OPERATIONS_PORT,
    portalPort: chosen.PORTAL_PORT,
    renderers,
    dataFolder: resolve(flags.data ?? DEFAULT_DATA_FOLDER),
    isWatching: flags.watch ?? false,
    outboundAllow: chosen.OUTBOUND_ALLOW ?? LOOPBACK,
    isOutboundOurs: chosen.OUTBOUND_ALLOW === undefined,
    redisPrefix: chosen.REDIS_PREFIX,
    env: withChosen(env, chosen),
  };
  // The variables of the services are checked now, too, before anything is fetched or started.
  const all = new Set([...problems, ...findServiceProblems(config)]);
  if (all.size > 0) throw new Failure(new ConfigError([...all]).message, { exitCode: EXIT_CONFIG });
  return config;
}

function readFlags(args: string[]) {
  try {
    const options = {
      renderers: { type: 'string' },
      data: { type: 'string' },
      watch: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    } as const;
    return parseArgs({ args, options, allowPositionals: false }).values;
  } catch (error) {
    throw new Failure(`${reasonOf(error)}\nSee npm start -- --help`, { exitCode: EXIT_CONFIG });
  }
}

function readVariables(env: NodeJS.ProcessEnv): { chosen: Readonly<Variables>; problems: readonly string[] } {
  try {
    return { chosen: readEnv(env, shape), problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // The defaults let the variables of the services be checked as well, and with them those that only services check.
    const unchecked = Object.fromEntries(CHECKED_BY_SERVICES.map((name) => [name, env[name]]));
    return { chosen: readEnv(unchecked, shape), problems: error.problems };
  }
}

// Replaces `_FILE` variables by the contents of their files, because a service rejects both together.
function withChosen(env: NodeJS.ProcessEnv, chosen: Readonly<Variables>) {
  const {
    HOST: _host,
    PORT: _port,
    OPERATIONS_HOST: _operationsHost,
    PORTAL_PORT: _portalPort,
    OPERATIONS_PORT: _operationsPort,
    ...rest
  } = chosen;
  const ours = new Set(VARIABLES.flatMap((name) => [name, `${name}_FILE`]));
  return { ...Object.fromEntries(Object.entries(env).filter(([name]) => !ours.has(name))), ...rest };
}
