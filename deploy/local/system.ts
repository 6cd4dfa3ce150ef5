// The whole system on one machine: opens its processes in order and closes them in reverse.
import { join } from 'node:path';
import getPort from 'get-port';
import { openSecretBox } from '#libs/secret-box.ts';
import type { Program } from '../backends/program.ts';
import { describePrograms, findPrograms } from '../backends/programs.ts';
import type { Progress } from '../backends/progress.ts';
import { startMongodb } from '../backends/start-mongodb.ts';
import { startRedis } from '../backends/start-redis.ts';
import { drawRedisUsers } from '../redis/passwords.ts';
import type { RedisUser } from '../redis/users.ts';
import type { LocalConfig } from './config.ts';
import { logFileOf, secretKeyOf } from './data-folder.ts';
import { MARK, markOf } from './orphans.ts';
import { startService } from './service.ts';
import {
  bareEnvironment,
  environments,
  urlOf as redisUrlOf,
  rendererEnvironment,
  type ServiceName,
  urlOfPort,
} from './service-env.ts';
import { openSocketFolder } from './socket-folder.ts';
import { type Running, type Supervised, supervise } from './supervise.ts';
import type { Terminal } from './terminal.ts';

export interface SystemOptions {
  config: LocalConfig;
  root: string; // holds services/
  dataFolder: string;
  env: NodeJS.ProcessEnv;
  terminal: Terminal;
  progress: Progress;
  onChange: () => void; // a process has a new pid
}

interface Addresses {
  url: string;
  operationsUrl: string;
  portalUrl: string;
  healthUrls: Record<string, string>; // by process name
  mongodbUri: string;
  redisUrl: string;
  secretKeyId: string;
}

interface Starting {
  mongodbUri: Promise<string>; // once MongoDB takes transactions
  ready: Promise<Addresses>; // once every process is ready
}

export interface System {
  // Starts everything side by side; each process waits for what it needs.
  // @param compiled resolves when the code that the services share is compiled.
  start(compiled: Promise<void>): Promise<Starting>;
  pids(): Record<string, number>;
  // Services close before stores, so that they can save their work. The caller ends those that are starting.
  stop(): Promise<void>;
}

// The port that the portal takes if it is free, so that links still lead to it after another start.
const PORTAL_PORT = 8070;
const SINGLE_SERVICES = ['gateway', 'mail', 'operations', 'portal', 'scheduler', 'webhooks'] as const;

export function makeSystem(options: SystemOptions): System {
  const { config, env } = options;
  const parts: Supervised[] = [];
  const redisUsers = drawRedisUsers(config.redisPrefix);
  let isStopping = false;

  async function keep(name: string, start: () => Promise<Running>) {
    if (isStopping) throw new Error('stopped while starting');
    const part = await supervise({ name, start, terminal: options.terminal, onChange: options.onChange });
    if (isStopping) return await part.stop();
    parts.push(part);
  }

  async function start(compiled: Promise<void>): Promise<Starting> {
    // The key comes first, so that an unreadable one is reported before anything is fetched or started.
    const secretKey = env['SECRET_KEY'] || (await secretKeyOf(options.dataFolder));
    const port = config.port || (await getPort({ host: config.host }));
    const operationsPort = config.operationsPort || (await getPort({ host: '127.0.0.1' }));
    const portalPort = config.portalPort || (await getPort({ host: config.host, port: PORTAL_PORT }));
    const socketFolder = await openSocketFolder(options.dataFolder);
    const programs = findPrograms(options);
    const described = describePrograms(programs).then((text) => options.terminal.say(`Starting ${text} …`));
    const mongodbUri = startMongo(programs.mongod, socketFolder);
    const redisUrl = startRedisOf(programs.redisServer, socketFolder);

    const healthPorts: Record<string, number> = {};
    const keepService = (name: string, service: ServiceName, serviceEnv: NodeJS.ProcessEnv) =>
      keep(name, async () => {
        healthPorts[name] ??= await getPort({ host: '127.0.0.1' });
        const healthPort = healthPorts[name];
        return await startService({ ...options, name, service, healthPort, env: serviceEnv });
      });
    const startRenderers = async () => {
      const [given, chromium] = await Promise.all([redisUrl, programs.chromium, compiled]);
      const serviceEnv = rendererEnvironment({ env, config, redisUrl: given, chromiumPath: chromium.command });
      await Promise.all(rendererNames(config.renderers).map((name) => keepService(name, 'renderer', serviceEnv)));
    };
    const startOthers = async () => {
      const [uri, given, chromium] = await Promise.all([mongodbUri, redisUrl, programs.chromium, compiled]);
      const found = { mongodbUri: uri, redisUrl: given, chromiumPath: chromium.command };
      const envOf = environments({ env, config, port, operationsPort, portalPort, secretKey, ...found });
      await Promise.all(SINGLE_SERVICES.map((service) => keepService(service, service, envOf[service])));
    };
    const ready = Promise.all([mongodbUri, redisUrl, described, startRenderers(), startOthers()]).then(
      ([uri, given]) => ({
        url: urlOfPort(config.host, port),
        operationsUrl: urlOfPort('127.0.0.1', operationsPort),
        portalUrl: env['PORTAL_URL'] || urlOfPort(config.host, portalPort),
        healthUrls: Object.fromEntries(
          Object.entries(healthPorts).map(([name, healthPort]) => [name, urlOfPort('127.0.0.1', healthPort)]),
        ),
        mongodbUri: uri,
        redisUrl: redisUrlOf(given, 'admin'),
        secretKeyId: openSecretBox(secretKey).keyIds[0] ?? '',
      }),
    );
    return { mongodbUri, ready };
  }

  // A store that restarts keeps its socket and its data, so services reconnect by themselves.
  async function startMongo(program: Promise<Program | undefined>, socketFolder: string): Promise<string> {
    const mongod = await program;
    if (!mongod) return env['MONGODB_URI'] ?? '';
    let uri = '';
    await keep('mongodb', async () => {
      const { command } = mongod;
      const started = await startMongodb({ ...storeOptions(options, 'mongodb'), command, socketFolder });
      uri = started.uri;
      return { ...started, exited: started.child.exited };
    });
    return uri;
  }

  // Each service has its own user in a Redis that is started here. A Redis given by REDIS_URL has one address for all.
  async function startRedisOf(program: Promise<Program | undefined>, socketFolder: string) {
    const redisServer = await program;
    if (!redisServer) return env['REDIS_URL'] ?? '';
    let url = '';
    const acl = { text: redisUsers.acl, url: (address: string) => redisUsers.urlOf('admin', address) };
    await keep('redis', async () => {
      const { command } = redisServer;
      const started = await startRedis({ ...storeOptions(options, 'redis'), command, socketFolder, acl });
      url = started.url;
      return { ...started, exited: started.child.exited };
    });
    return (user: RedisUser) => redisUsers.urlOf(user, url);
  }

  async function stop() {
    isStopping = true;
    const order = [
      ['gateway', 'operations', 'portal', 'scheduler'],
      ['mail', 'webhooks'],
      rendererNames(config.renderers),
      ['redis'],
      ['mongodb'],
    ];
    for (const names of order) {
      await Promise.all(parts.filter(({ name }) => names.includes(name)).map((part) => part.stop()));
    }
  }

  return {
    start,
    stop,
    pids: () => {
      const running = parts.map((part) => [part.name, part.pid()] as const);
      return Object.fromEntries(running.filter((entry): entry is [string, number] => entry[1] !== undefined));
    },
  };
}

function storeOptions({ dataFolder, env }: SystemOptions, name: string) {
  return {
    folder: join(dataFolder, name),
    logFile: logFileOf(dataFolder, name),
    env: { ...bareEnvironment(env), [MARK]: markOf(dataFolder, name) },
  };
}

// Returns "renderer", "renderer-2", "renderer-3".
function rendererNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? 'renderer' : `renderer-${index + 1}`));
}
