// One run of the system: checks, start, banner and orderly shutdown.
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import getPort from 'get-port';
import { EXIT_FAILED, Failure, reasonOf } from '../backends/failure.ts';
import { showProgress } from '../backends/progress.ts';
import { bannerOf, type Facts } from './banner.ts';
import { DEFAULT_DATA_FOLDER, type LocalConfig, readConfig } from './config.ts';
import { openDataFolder, removeFacts, writeFacts } from './data-folder.ts';
import { openDemoEndpoint, rememberedReceiver } from './demo-endpoint.ts';
import { type End, endOnce, endOnSignals } from './end.ts';
import { postGuardian } from './guardian.ts';
import { type Mailbox, startMailbox } from './mailbox/mailbox.ts';
import { endMarked, endOurs } from './orphans.ts';
import { startReceiver } from './receiver.ts';
import { makeSystem } from './system.ts';
import { showOn, type Terminal } from './terminal.ts';

const DEMO_SENDER = 'billing@billhook.example';
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
    const folder = await openDataFolder(config.dataFolder);
    end.onClose(() => folder.release());
    endOnSignals(end, folder.path);
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
  const tellFacts = () => {
    if (!facts || end.isUnderWay()) return;
    try {
      writeFacts(dataFolder, { ...facts, pids: { supervisor: process.pid, ...system.pids() } });
    } catch (error) {
      terminal.say(`local.json cannot be written: ${reasonOf(error)}`); // A full disk may recover.
    }
  };

  end.onClose(() => removeFacts(dataFolder));
  const guardian = postGuardian(dataFolder);
  end.onClose(() => guardian.dismiss());
  end.onClose(() => endOurs(dataFolder)); // Some processes may just be starting.
  const receiver = await startReceiver(await rememberedReceiver(dataFolder));
  end.onClose(() => receiver.close());

  // Without an SMTP server of the user's, mail stays on this machine.
  const mailbox = env['SMTP_URL'] ? undefined : await startMailbox(dataFolder);
  end.onClose(() => mailbox?.close());

  const progress = showProgress(process.stderr);
  const system = makeSystem({
    config,
    root,
    dataFolder,
    env: withMailbox(env, mailbox),
    terminal,
    progress,
    onChange: tellFacts,
  });
  end.onClose(() => system.stop());
  // This process loads what all services share, and compiles it once for them while the stores start.
  const demo = import('./demo.ts');
  const { mongodbUri, ready } = await system.start(demo.then(() => flushCompileCache()));
  const opened = Promise.all([demo, mongodbUri]).then(([{ openDemo }, uri]) => openDemo(dataFolder, uri));
  const [addresses, { account, operator }] = await Promise.all([ready, opened]);
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
  const { redisPrefix, outboundAllow } = config;
  facts = { ...addresses, key: account.key, redisPrefix, outboundAllow, receiverUrl: receiver.url, pids: {} };
  if (mailbox) facts.mailboxUrl = mailbox.url;
  tellFacts();
  const folder = dataFolder === join(root, DEFAULT_DATA_FOLDER) ? '' : ` --data ${dataFolder}`;
  notes.push(
    `Is all well? npm run -s admin -- doctor${folder}`,
    `Ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s. Data and logs are in ${dataFolder}.`,
  );
  if (!end.isUnderWay()) process.stdout.write(bannerOf(facts, operator, notes));
}

function withMailbox(env: NodeJS.ProcessEnv, mailbox: Mailbox | undefined): NodeJS.ProcessEnv {
  return mailbox ? { MAIL_FROM: DEMO_SENDER, ...env, SMTP_URL: mailbox.smtpUrl } : env;
}

// Checks the ports before anything is fetched or started.
async function portsAreFree({ host, port, operationsPort, portalPort }: LocalConfig): Promise<void> {
  const wanted = [
    { variable: 'PORT', host, port },
    { variable: 'OPERATIONS_PORT', host: '127.0.0.1', port: operationsPort },
    { variable: 'PORTAL_PORT', host, port: portalPort },
  ];
  for (const one of wanted) {
    if (one.port === 0) continue; // A free one.
    const found = await getPort({ host: one.host, port: one.port }).catch(reasonOf);
    if (found === one.port) continue;
    const taken = one.port < 1_024 ? 'is taken, or only root may use it' : 'is taken by another program';
    const why = typeof found === 'number' ? taken : `cannot be used (${found})`;
    const other = `${one.variable}=${one.port + 1} npm start`;
    throw new Failure(`Port ${one.port} of ${one.host} ${why}. Choose another, for example ${other}`);
  }
}

async function clearLeftovers(dataFolder: string, terminal: Terminal): Promise<void> {
  await removeFacts(dataFolder);
  const ended = await endMarked(dataFolder);
  if (ended.length === 0) return;
  terminal.say(
    `Ended what a killed start had left running: ${ended.map(({ name, pid }) => `${name} (${pid})`).join(', ')}`,
  );
}
