// What the person starting Billhook chose: flags, and the variables that are ours to read.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import Joi from 'joi';
import { EXIT_CONFIG, readEnv } from '#libs/env.ts';
import { Failure, reasonOf } from './failure.ts';

export interface LocalConfig {
  host: string;
  port: number;
  renderers: number;
  dataFolder: string;
  outboundAllow: string;
  isOutboundOurs: boolean; // nobody chose: the banner says what we chose
}

interface Variables {
  HOST: string;
  PORT: number;
  OUTBOUND_ALLOW?: string;
  MONGODB_URI?: string;
  REDIS_URL?: string;
}

// The demonstration receives its webhooks on this machine, which every other installation refuses.
const LOOPBACK = '127.0.0.0/8,::1/128';
// Each renderer is a browser of its own; more than this on one machine is a typing mistake.
const RENDERERS_MAX = 16;

const shape = Joi.object<Variables>({
  HOST: Joi.string()
    .ip({ cidr: 'forbidden' })
    .default('127.0.0.1')
    .messages({ 'string.ip': '{{#label}} must be an IP address such as 127.0.0.1' }),
  PORT: Joi.number().port().default(8080),
  OUTBOUND_ALLOW: Joi.string(),
  MONGODB_URI: Joi.string().uri({ scheme: ['mongodb', 'mongodb+srv'] }),
  REDIS_URL: Joi.string().uri({ scheme: ['redis', 'rediss'] }),
});

const HELP = `Billhook on this machine: MongoDB, Redis, Chromium and the three services with one command.

Usage: npm start -- [--renderers N] [--data DIR] [--help]

  --renderers N   how many renderers share the one queue (1 to ${RENDERERS_MAX}, default 1)
  --data DIR      where data, logs, keys and local.json are kept (default .billhook)

Variables:
  PORT            port of the API (default 8080, 0 takes a free one)
  HOST            address of the API (default 127.0.0.1)
  MONGODB_URI     use this replica set instead of starting a mongod
  REDIS_URL       use this Redis instead of starting one (appendonly yes, maxmemory-policy noeviction)
  CHROMIUM_PATH   print with this browser
  OUTBOUND_ALLOW  networks that webhooks and images may reach besides public ones (default here ${LOOPBACK})
  SECRET_KEY      encrypts webhook secrets (default: made once and kept in the data folder)
  WEBHOOK_RETRY_SCALE   multiplies the waits between delivery attempts (default 1)
  LOG_LEVEL       what the services log (default info)
  BILLHOOK_CACHE_DIR    where fetched programs are kept (default ~/.cache/billhook)
Everything else in the environment is handed to the gateway and the webhook service as it is.

The address, the key of the demo account and all process ids are in local.json in the data folder while Billhook runs.
`;

// Throws a Failure (exit code 78) that lists every problem. Answers the text to print when --help was asked.
export function readConfig(args: string[], env: NodeJS.ProcessEnv): LocalConfig | { help: string } {
  const flags = readFlags(args);
  if (flags.help) return { help: HELP };
  const renderers = Number(flags.renderers ?? 1);
  if (!Number.isInteger(renderers) || renderers < 1 || renderers > RENDERERS_MAX) {
    throw new Failure(`--renderers must be a whole number from 1 to ${RENDERERS_MAX}, not "${flags.renderers}"`, {
      exitCode: EXIT_CONFIG,
    });
  }
  const variables = readVariables(env);
  return {
    host: variables.HOST,
    port: variables.PORT,
    renderers,
    dataFolder: resolve(flags.data ?? '.billhook'),
    outboundAllow: variables.OUTBOUND_ALLOW ?? LOOPBACK,
    isOutboundOurs: variables.OUTBOUND_ALLOW === undefined,
  };
}

function readFlags(args: string[]) {
  try {
    const options = {
      renderers: { type: 'string' },
      data: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    } as const;
    return parseArgs({ args, options, allowPositionals: false }).values;
  } catch (error) {
    throw new Failure(`${reasonOf(error)}\nSee npm start -- --help`, { exitCode: EXIT_CONFIG });
  }
}

function readVariables(env: NodeJS.ProcessEnv): Readonly<Variables> {
  try {
    return readEnv(env, shape);
  } catch (error) {
    throw new Failure(error instanceof Error ? error.message : String(error), { exitCode: EXIT_CONFIG });
  }
}
