// Services that start while a store is unavailable: alive, not ready, and waiting until it is available. A rejected password ends them.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { resultWithin } from '#libs/with-timeout.ts';
import { startChild } from '../../../deploy/backends/child.ts';
import { findMongodb } from '../../../deploy/backends/mongodb.ts';
import { findRedis } from '../../../deploy/backends/redis.ts';
import { startMongodb } from '../../../deploy/backends/start-mongodb.ts';
import { startRedis } from '../../../deploy/backends/start-redis.ts';
import { eventually } from '../../support/eventually.ts';
import { launchService, type ServiceName, type ServiceWorkspace } from '../../support/spawn-service.ts';
import { steadyPort } from '../../support/steady-port.ts';

/** Two server selections of 5 s each and part of a third: a second line in the log, if there were one, would be written by then. */
const SEVERAL_TRIES_MS = 12_000;
/** A service that is started with what waiting cannot repair ends within seconds, or within half a minute on a busy machine. */
const END_LIMIT_MS = 60_000;
const SERVICES = ['gateway', 'webhooks', 'renderer', 'operations', 'scheduler', 'portal', 'mail'] as const;

let folder: string;
let workspace: ServiceWorkspace;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-start-'));
  workspace = {
    mongodbUri: `${process.env['TEST_MONGODB_URI']}`.replace(/\/billhook/, '/test_start_without_stores'),
    redisUrl: `${process.env['TEST_REDIS_URL']}`,
    redisPrefix: `test_start_${process.pid}`,
    chromiumPath: `${process.env['TEST_CHROMIUM_PATH']}`,
    secretKey: randomBytes(32).toString('base64'),
  };
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Launched = Awaited<ReturnType<typeof launch>>;

async function launch(service: ServiceName, stores: Partial<ServiceWorkspace>) {
  const launched = await launchService(service, { ...workspace, ...stores });
  closers.push(launched.stop);
  return {
    ...launched,
    lines: (text: string | RegExp) =>
      launched
        .output()
        .split('\n')
        .filter((line) => line.search(text) >= 0),
    async healthOf(path: string) {
      const response = await fetch(`${launched.healthUrl}${path}`);
      return { status: response.status, body: await response.json() };
    },
  };
}

async function mongodbOn(port: number) {
  const { command } = await findMongodb({ env: { ...process.env, MONGODB_URI: '' } });
  const running = await startMongodb({ command, folder: join(folder, `mongodb-${port}`), env: process.env, port });
  closers.push(running.stop);
}

async function redisOn(port: number) {
  const { command } = await findRedis({ env: { ...process.env, REDIS_URL: '' } });
  const running = await startRedis({ command, folder: join(folder, `redis-${port}`), env: process.env, port });
  closers.push(running.stop);
  return running;
}

test('when neither store is available, then all services are alive, log once that they wait, and are ready as soon as their stores are', async () => {
  const [mongodbPort, redisPort] = [await steadyPort(), await steadyPort()];
  const stores = {
    mongodbUri: `mongodb://127.0.0.1:${mongodbPort}/billhook?replicaSet=billhook`,
    redisUrl: `redis://127.0.0.1:${redisPort}`,
  };
  const services = await Promise.all(SERVICES.map((name) => launch(name, stores)));
  const [gateway, webhooks, renderer, operations, scheduler, portal, mail] = services as [
    Launched,
    Launched,
    Launched,
    Launched,
    Launched,
    Launched,
    Launched,
  ];
  const withDatabase = [gateway, webhooks, operations, scheduler, portal, mail];
  // Neither needs Redis, which only carries their nudges.
  const patient = [operations, scheduler, portal];
  const all = <Result>(ask: (service: (typeof services)[number]) => Result) => Promise.all(services.map(ask));
  await all((service) => eventually(async () => (await service.healthOf('/livez')).status === 200));
  await eventually(() => withDatabase.every(({ lines }) => lines('mongodb is unavailable').length > 0));
  await pause(SEVERAL_TRIES_MS);

  expect(await all((service) => service.healthOf('/livez'))).toMatchObject(Array(7).fill({ status: 200 }));
  const starting = (checks: object) => ({ status: 503, body: { status: 'starting', checks } });
  const missing = expect.not.stringMatching(/^ok$/);
  expect(await gateway.healthOf('/readyz')).toMatchObject(starting({ mongodb: 'not connected' }));
  expect(await webhooks.healthOf('/readyz')).toMatchObject(starting({ mongodb: 'not connected', redis: missing }));
  expect(await mail.healthOf('/readyz')).toMatchObject(starting({ mongodb: 'not connected', redis: missing }));
  expect(await renderer.healthOf('/readyz')).toMatchObject(starting({ redis: missing, browser: 'ok' }));
  const linesOf = ({ lines }: (typeof services)[number]) => [
    lines('mongodb is unavailable').length,
    lines('redis is unavailable').length,
    // A process that got no processor time for seconds logs a timeout instead.
    lines(/ECONNREFUSED|timed out/).length,
  ];
  expect(services.map(linesOf)).toEqual([
    [1, 1, 2],
    [1, 1, 2],
    [0, 1, 1],
    [1, 1, 2],
    [1, 1, 2],
    [1, 1, 2],
    [1, 1, 2],
  ]);
  const rejected = await fetch(`${gateway.url}/api/v1/clients`);
  expect([rejected.status, await rejected.json()]).toEqual([
    503,
    expect.objectContaining({ error: 'The service is temporarily unavailable' }),
  ]);
  expect(rejected.headers.get('retry-after')).toBe('1');
  for (const { healthOf } of patient)
    expect(await healthOf('/readyz')).toMatchObject(starting({ mongodb: 'not connected' }));
  await expect(fetch(operations.url)).rejects.toThrow();

  await mongodbOn(mongodbPort);
  await eventually(async () => (await gateway.healthOf('/readyz')).status === 200); // It works without Redis.
  expect((await fetch(`${gateway.url}/api/v1/clients`)).status).toBe(401);
  expect((await webhooks.healthOf('/readyz')).status).toBe(503);
  for (const { healthOf } of patient) await eventually(async () => (await healthOf('/readyz')).status === 200);
  expect((await fetch(`${operations.url}/login`)).status).toBe(200);
  await redisOn(redisPort);
  await all((service) => eventually(async () => (await service.healthOf('/readyz')).status === 200));
  await eventually(async () => (await gateway.healthOf('/readyz?verbose')).body.checks.redis.status === 'ok');
  expect(withDatabase.map(({ lines }) => lines('mongodb is available').length)).toEqual(Array(6).fill(1));
  expect(await all((service) => service.stop())).toEqual(Array(7).fill(0));
});

test('when services are asked to stop while they wait, then they end with 0', async () => {
  const port = await steadyPort();
  const stores = { mongodbUri: `mongodb://127.0.0.1:${port}/billhook`, redisUrl: `redis://127.0.0.1:${port}` };
  const services = await Promise.all(SERVICES.map((name) => launch(name, stores)));
  for (const service of services) await eventually(async () => (await service.healthOf('/livez')).status === 200);

  expect(await Promise.all(services.map((service) => service.stop()))).toEqual(Array(7).fill(0));
});

describe('a configuration that waiting cannot repair', () => {
  interface Ending {
    code: number | null;
    output: string;
  }

  async function endings(starts: (() => ReturnType<typeof launch>)[]) {
    return Promise.all(starts.map((start) => ending(start)));
  }

  /**
   * Node.js can hang as it exits (nodejs/node#54918), and a supervisor ends such a process with a signal and starts it again, as
   * this does once. A service that hangs before it exits handles the signal, and ends with a code.
   */
  async function ending(start: () => ReturnType<typeof launch>, isAgain = false): Promise<Ending> {
    const service = await start();
    const over = service.exited.then((code) => ({ code, output: service.output() }));
    const ended = await resultWithin(END_LIMIT_MS, over);
    if (ended) return ended;
    const code = await service.stop();
    return code === null && !isAgain ? await ending(start, true) : { code, output: service.output() };
  }

  const named = (problem: RegExp) => ({ code: 78, output: expect.stringMatching(problem) });

  test('when MongoDB rejects the credentials, or requires some, then that is named and the exit code is 78', async () => {
    const port = await steadyPort();
    const { command } = await findMongodb({ env: { ...process.env, MONGODB_URI: '' } });
    const data = await mkdtemp(join(folder, 'locked-'));
    const args = ['--dbpath', data, '--port', `${port}`, '--bind_ip', '127.0.0.1', '--auth', '--nounixsocket'];
    const mongod = await startChild(command, args, { env: process.env, logFile: join(folder, 'locked.log') });
    closers.push(() => mongod.stop());
    const uri = (user: string) => ({ mongodbUri: `mongodb://${user}127.0.0.1:${port}/billhook` });

    const ended = await endings(
      ['ada:guessed@', ''].flatMap((user) => [() => launch('gateway', uri(user)), () => launch('webhooks', uri(user))]),
    );

    expect(ended).toEqual(Array(4).fill(named(/ {2}- MONGODB_URI: MongoDB rejects its user name or password/)));
    expect(ended.filter(({ output }) => output.includes('guessed'))).toEqual([]);
  });

  test('when Redis rejects the password, or requires one, then that is named and the exit code is 78', async () => {
    const redis = await redisOn(await steadyPort());
    const owner = new Redis(redis.url);
    await owner.config('SET', 'requirepass', 'right');
    owner.disconnect();
    const urls = [redis.url, redis.url.replace('//', '//:guessed@')];

    // The services connect by the same code, so each tries one of the two.
    const starts = SERVICES.map((name, index) => () => launch(name, { redisUrl: String(urls[index % urls.length]) }));
    const ended = await endings(starts);

    expect(ended).toEqual(
      Array(SERVICES.length).fill(named(/ {2}- REDIS_URL: Redis rejects its user name or password/)),
    );
    expect(ended.filter(({ output }) => output.includes('guessed'))).toEqual([]);
  });

  test('when MONGODB_URI has an unknown option, or names a certificate that does not exist, then that is named and the exit code is 78', async () => {
    const of = (options: string) => ({ mongodbUri: `mongodb://127.0.0.1:1/billhook?${options}` });

    const ended = await endings(
      ['replicaSe=rs0', 'tls=true&tlsCAFile=/no/such/file'].flatMap((options) => [
        () => launch('gateway', of(options)),
        () => launch('webhooks', of(options)),
      ]),
    );

    const [option, file] = [named(/ {2}- MONGODB_URI: .*replicase/), named(/ {2}- MONGODB_URI: \/no\/such\/file/)];
    expect(ended).toEqual([option, option, file, file]);
  });
});
