// `npm run prometheus`: a real Prometheus over the running system. Checks and tests the alert rules, then asks every panel of the
// Grafana dashboard for data. Not part of npm test: the program is not among the packages (Debian's archive has it).
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import getPort from 'get-port';
import { startBackends } from '../../test/support/backends.ts';
import { eventually } from '../../test/support/eventually.ts';
import { startReceiver } from '../../test/support/receiver.ts';
import { anInvoice } from '../../test/support/renderer/documents.ts';
import { startSystem, type TestSystem } from '../../test/support/system.ts';
import { readCommandLine } from '../command-line.ts';
import { findPrograms } from './programs.ts';
import { alertQueries, ask, panelQueries, type Query, targets } from './queries.ts';

readCommandLine(
  `Runs a real Prometheus over a running system: checks and tests the alert rules, and asks every panel of the Grafana dashboard for data.

Usage: npm run prometheus

Ends with 1 when a panel has no data.
`,
  {},
);

/** Long enough for a rate over several scrapes on a machine that is busy. */
const WINDOW = '60s';
const DATA_LIMIT_MS = 120_000;

const folder = await mkdtemp(join(tmpdir(), 'billhook-prometheus-'));
const closers: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
try {
  const { prometheus, promtool } = await findPrograms(process.env, folder);
  tool(promtool, 'check', 'config', '--syntax-only', 'deploy/docker/prometheus.yml');
  tool(promtool, 'check', 'rules', 'deploy/grafana/alerts.yml');
  tool(promtool, 'test', 'rules', 'lab/prometheus/alerts.yml');
  const system = await start();
  const url = await scrape(prometheus, system);
  const traffic = keepBusy(system);
  closers.push(traffic.stop);
  const missing = await report(url);
  process.exitCode = missing.length === 0 ? 0 : 1;
} finally {
  for (const close of closers.toReversed()) await close();
}

function tool(promtool: string, ...args: string[]) {
  process.stdout.write(`promtool ${args.join(' ')}\n`);
  process.stdout.write(execFileSync(promtool, args, { encoding: 'utf8' }).replaceAll(/^(?=.)/gm, '  '));
}

async function start(): Promise<TestSystem> {
  const backends = await startBackends(process.env);
  closers.push(() => backends.stop());
  process.env['TEST_MONGODB_URI'] = backends.mongodbUri;
  process.env['TEST_REDIS_URL'] = backends.redisUrl;
  process.env['TEST_CHROMIUM_PATH'] = backends.chromiumPath;
  const system = await startSystem({ env: { LOG_LEVEL: 'warn', RECYCLE_PRINTS: '20' } });
  closers.push(() => system.close());
  return system;
}

/** The configuration of the compose file, but for the addresses and the haste. @returns the address of Prometheus. */
async function scrape(
  program: string,
  { gateway, renderers, webhooks, spawn: spawnService }: TestSystem,
): Promise<string> {
  const given = await readFile('deploy/docker/prometheus.yml', 'utf8');
  const [operations, scheduler] = [await spawnService('operations'), await spawnService('scheduler')];
  const jobs = {
    gateway: [gateway],
    operations: [operations],
    renderer: renderers,
    scheduler: [scheduler],
    webhooks: [webhooks],
  };
  const lines = Object.entries(jobs).map(([job, services]) => {
    const hosts = services.map(({ healthUrl }) => new URL(healthUrl).host);
    return `  - { job_name: ${job}, static_configs: [{ targets: [${hosts.map((host) => `"${host}"`)}] }] }`;
  });
  const head = given
    .slice(0, given.indexOf('scrape_configs:'))
    .replaceAll('15s', '2s')
    .replace('/etc/billhook/grafana/alerts.yml', resolve('deploy/grafana/alerts.yml'));
  await writeFile(join(folder, 'prometheus.yml'), `${head}scrape_configs:\n${lines.join('\n')}\n`);
  const address = `127.0.0.1:${await getPort()}`;
  const args = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`];
  const child = spawn(program, [...args, `--web.listen-address=${address}`], { stdio: ['ignore', 'ignore', 'pipe'] });
  closers.push(() => end(child));
  const url = `http://${address}`;
  await eventually(async () => {
    const all = await targets(url);
    return all.length === Object.keys(jobs).length && all.every(({ health }) => health === 'up');
  }, DATA_LIMIT_MS);
  process.stdout.write(`\nPrometheus scrapes ${Object.keys(jobs).join(', ')}\n`);
  return url;
}

function end(child: ChildProcess): Promise<unknown> {
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  return ended;
}

/** Everything that is measured happens now and then: records, documents, webhooks that arrive and some that do not. */
function keepBusy({ call }: TestSystem) {
  let isStopping = false;
  async function work() {
    const receiver = await startReceiver();
    await call('POST', '/api/v1/webhooks', { body: { url: receiver.url, events: ['*'] } });
    for (let turn = 0; !isStopping; turn += 1) {
      if (turn % 3 === 0) receiver.answerWith(500);
      await call('POST', '/api/v1/clients', { body: { name: 'Ada', email: `ada${turn}@example.com` } });
      await call('GET', '/api/v1/clients');
      await call('POST', '/api/tools/generate-pdf', { body: anInvoice() });
    }
    await receiver.close();
  }
  const done = work();
  return {
    stop: () => {
      isStopping = true;
      return done;
    },
  };
}

async function report(url: string): Promise<Query[]> {
  const missing: Query[] = [];
  process.stdout.write('\nPanels of the dashboard\n');
  for (const query of panelQueries(WINDOW)) {
    const values = await eventually(async () => {
      const found = await ask(url, query.expression);
      return found.length > 0 && found;
    }, DATA_LIMIT_MS).catch(() => []);
    if (values.length === 0) missing.push(query);
    say(
      values.length > 0,
      query,
      values
        .slice(0, 4)
        .map((value) => Number(value.toPrecision(3)))
        .join(' '),
    );
  }
  process.stdout.write('\nAlerts that would fire now (none is right)\n');
  for (const query of alertQueries()) {
    const values = await ask(url, query.expression);
    say(values.length === 0, query, values.length === 0 ? 'quiet' : `HOLDS ${values}`);
  }
  process.stdout.write(`\n${missing.length} panels without data\n`);
  return missing;
}

function say(isWell: boolean, { title, expression }: Query, found: string) {
  process.stdout.write(
    `  ${isWell ? '✓' : '✗'} ${title.padEnd(32)} ${found.padEnd(28)} ${expression.replaceAll(/\s+/g, ' ')}\n`,
  );
}
