// One run of the system: checks, start, banner and orderly shutdown.
import { createServer, type Server } from 'node:net';
import { EXIT_FAILED, Failure, reasonOf } from '../backends/failure.ts';
import { showProgress } from '../backends/progress.ts';
import { bannerOf, type Facts } from './banner.ts';
import { type LocalConfig, readConfig } from './config.ts';
import { localFactsFile, openDataFolder, readPrivate, removeFacts, writePrivately } from './data-folder.ts';
import { openDemoAccount, openDemoEndpoint, openDemoOperator, rememberedReceiver } from './demo.ts';
import { type End, endOnce, endOnSignals } from './end.ts';
import { postGuardian } from './guardian.ts';
import { endMarked, endOurs } from './orphans.ts';
import { startReceiver } from './receiver.ts';
import { makeSystem } from './system.ts';
import { showOn, type Terminal } from './terminal.ts';
import { watchSources } from './watch-sources.ts';

const OWNER_ONLY_UMASK = 0o077;

export interface RunOptions {
  args: string[];
  env: NodeJS.ProcessEnv;
  root: string; // holds services/
}

interface Run extends RunOptions {
  config: LocalConfig;
  dataFolder: string;
  terminal: Terminal;
  end: End;
}

export async function runLocally(options: RunOptions): Promise<void> {
  // Files of this process and its children (logs, data, sockets) are private to this user.
  process.umask(OWNER_ONLY_UMASK);
  const terminal = showOn(process.stderr);
  const end = endOnce(terminal);
  try {
    const config = readConfig(options.args, options.env);
    if ('help' in config) return void process.stdout.write(config.help);
    const folder = await openDataFolder(
      config.dataFolder,
      terminal,
      () => void end.now('the data folder is lost', EXIT_FAILED),
    );
    end.onClose(() => folder.release());
    endOnSignals(end, folder.path, options.env);
    await clearLeftovers(folder.path, terminal); // They may occupy the port.
    await portsAreFree(config);
    await bringUp({ ...options, env: config.env, config, dataFolder: folder.path, terminal, end });
  } catch (error) {
    if (end.isUnderWay()) return; // Processes stopped during their start are no failure.
    const isExpected = error instanceof Failure;
    terminal.say(isExpected ? error.message : `Billhook could not start: ${reasonOf(error)}`);
    await end.now(undefined, isExpected ? error.exitCode : EXIT_FAILED);
  }
}

async function bringUp({ config, env, root, dataFolder, terminal, end }: Run): Promise<void> {
  const startedAt = performance.now();
  let facts: Facts | undefined;
  let written: Promise<void> = Promise.resolve();
  const writeFacts = () => {
    if (!facts || end.isUnderWay()) return;
    const current = { ...facts, pids: pids() };
    const before = written.catch(() => {}); // A full disk may recover.
    written = before.then(() => writePrivately(localFactsFile(dataFolder), current));
    written.catch((error) => terminal.say(`local.json cannot be written: ${reasonOf(error)}`));
  };
  const pids = () => ({ supervisor: process.pid, ...system.pids() });

  end.onClose(async () => {
    await written.catch(() => {}); // The error was reported already.
    await removeOwnFacts(dataFolder);
  });
  const guardian = postGuardian(dataFolder);
  end.onClose(() => guardian.dismiss());
  end.onClose(() => endOurs(dataFolder)); // Some processes may just be starting.
  const receiver = await startReceiver(await rememberedReceiver(dataFolder));
  end.onClose(() => receiver.close());

  const progress = showProgress(process.stderr);
  const system = makeSystem({ config, root, dataFolder, env, terminal, progress, onChange: writeFacts });
  end.onClose(() => system.stop());
  const addresses = await system.start();
  if (config.isWatching) {
    const sources = watchSources(root, (service, file) => system.restart(service, `${file} changed`));
    end.onClose(() => sources.close());
  }
  const place = { root, dataFolder, env: addresses.adminEnv };
  const account = await openDemoAccount(place, addresses.url);
  const operator = await openDemoOperator(place, account.accountId);
  const notes = config.isOutboundOurs
    ? [
        `Webhooks and images may reach this machine here (OUTBOUND_ALLOW=${config.outboundAllow}); elsewhere they may not.`,
      ]
    : [];
  try {
    const api = { url: addresses.url, key: account.key };
    receiver.useSecret((await openDemoEndpoint(dataFolder, api, receiver.hookUrl)).secret);
  } catch (error) {
    notes.push(`The receiver of the demo account could not be registered: ${reasonOf(error)}`);
  }
  const { adminEnv: _env, ...found } = addresses;
  const { redisPrefix, outboundAllow } = config;
  facts = { ...found, key: account.key, redisPrefix, outboundAllow, receiverUrl: receiver.url, pids: pids() };
  writeFacts();
  await written;
  notes.push(
    `Ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s. Data and logs are in ${dataFolder}.`,
  );
  if (!end.isUnderWay()) process.stdout.write(bannerOf(facts, operator, notes));
}

// Checks the ports before anything is fetched or started.
async function portsAreFree({ host, port, operationsPort }: LocalConfig): Promise<void> {
  const wanted = [
    { variable: 'PORT', host, port },
    { variable: 'OPERATIONS_PORT', host: '127.0.0.1', port: operationsPort },
  ];
  const taken: Server[] = [];
  try {
    // Both are taken at once, because the system needs two ports.
    for (const one of wanted) taken.push(await takePort(one));
  } finally {
    for (const server of taken) await new Promise((resolve) => server.close(resolve));
  }
}

async function takePort({ variable, host, port }: { variable: string; host: string; port: number }): Promise<Server> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    return server;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be used (${reasonOf(error)})`;
    throw new Failure(`Port ${port} of ${host} ${why}. Choose another, for example ${variable}=${port + 1} npm start`);
  }
}

// Removes local.json and the like. In a lost folder they may belong to another supervisor by now.
async function removeOwnFacts(dataFolder: string): Promise<void> {
  const { pids } = await readPrivate<Facts>(localFactsFile(dataFolder));
  if (pids?.['supervisor'] === process.pid) await removeFacts(dataFolder);
}

async function clearLeftovers(dataFolder: string, terminal: Terminal): Promise<void> {
  await removeFacts(dataFolder);
  const ended = await endMarked(dataFolder);
  if (ended.length === 0) return;
  terminal.say(
    `Ended what a killed start had left running: ${ended.map(({ name, pid }) => `${name} (${pid})`).join(', ')}`,
  );
}
