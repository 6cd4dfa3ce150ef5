// `npm start` with fake services and a real MongoDB and Redis: how it starts, watches, and ends.
import { mkdir, mkdtemp, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openRedis } from '#libs/redis/connection.ts';
import type { Facts } from '../../../deploy/local/banner.ts';
import { findMarked } from '../../../deploy/local/orphans.ts';
import { eventually } from '../../support/eventually.ts';
import { isAlive } from '../../support/scratch.ts';
import { steadyPort } from '../../support/steady-port.ts';
import { factsIn, PRETENDED, REAL, type Start, start, whenReady } from './start-and-run.ts';

let folder: string;
let data: string;
const starts: Start[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-run-'));
  data = join(folder, 'data');
});
afterAll(async () => {
  for (const { child, exitCode } of starts) {
    child.kill('SIGTERM');
    await exitCode;
  }
  await rm(folder, { recursive: true, force: true });
});

describe('while it runs', () => {
  let running: Start;
  let facts: Facts;
  let operationsPort: number;
  beforeAll(async () => {
    operationsPort = await steadyPort();
    running = run(['--data', data, '--renderers', '2'], { OPERATIONS_PORT: String(operationsPort) });
    facts = await whenReady(running, data);
  });

  test('when everything is ready, then local.json describes it, for the owner alone', async () => {
    expect((await stat(join(data, 'local.json'))).mode & 0o777).toBe(0o600);
    expect(facts).toMatchObject({
      key: expect.stringMatching(/^bh_live_/),
      mongodbUri: expect.stringMatching(/^mongodb:/),
    });
    expect(facts.operationsUrl).toBe(`http://127.0.0.1:${operationsPort}`);
    expect(facts).toMatchObject({ redisPrefix: 'billhook', secretKeyId: expect.stringMatching(/^[0-9a-f]{8}$/) });
    expect(Object.keys(facts.pids).sort()).toEqual([
      'gateway',
      'mail',
      'mongodb',
      'operations',
      'portal',
      'redis',
      'renderer',
      'renderer-2',
      'scheduler',
      'supervisor',
      'webhooks',
    ]);
    expect(Object.values(facts.pids).every(isAlive)).toBe(true);
  });

  test('when everything is ready, then the address, the key and three lines to paste are printed', () => {
    const output = running.output();

    expect(output).toMatch(new RegExp(`Address +${facts.url}\n`));
    expect(output).toMatch(/Key +bh_live_\w+\n/);
    expect(output.match(/^curl .*$/gm)).toEqual([
      expect.stringMatching(/generate-pdf .* -o invoice\.pdf$/),
      expect.stringMatching(/\/api\/v1\/clients /),
      `curl -sS ${facts.receiverUrl}/deliveries`,
    ]);
    expect(output).toContain('OUTBOUND_ALLOW=127.0.0.0/8,::1/128');
  });

  test('when a service warns, then the terminal shows the warning in one line, and nothing else of its log', () => {
    expect(running.output()).toContain('[webhooks] warning: the queue is slow');
    expect(running.output()).not.toContain('nothing to see');
  });

  test('when the renderers start, then their environment has neither the database nor the secret', async () => {
    const [seen = ''] = (await notes()).filter((line) => line.startsWith('renderer sees'));

    expect(seen.split(' ')).toEqual(expect.arrayContaining(['REDIS_URL', 'NODE_COMPILE_CACHE']));
    expect(seen).not.toMatch(/MONGODB|SECRET/);
  });

  test('when a renderer is killed, then it is named, a new one starts, and its browser is gone', async () => {
    const killed = facts.pids['renderer'] as number;
    const browsers = (await notes()).filter((line) => line.startsWith('browser'));
    process.kill(killed, 'SIGKILL');

    const now = await eventually(async () => differs('renderer', killed));

    expect(running.output()).toContain('[renderer] stopped by itself (ended by SIGKILL), starting again');
    expect(isAlive(now)).toBe(true);
    const alive = await eventually(() => {
      const left = browsers.map((line) => Number(line.split(' ')[1])).filter(isAlive);
      return left.length === 1 && left;
    });
    expect(alive).toHaveLength(1); // The other renderer keeps its own.
  });

  test('when redis-server is killed, then it is back at the same address', async () => {
    const killed = facts.pids['redis'] as number;
    process.kill(killed, 'SIGKILL');

    await eventually(() => differs('redis', killed));

    const redis = openRedis(facts.redisUrl);
    expect(await redis.ping()).toBe('PONG');
    await redis.quit();
  });

  test('when local.json could not be written once, then it is written the next time', async () => {
    const inTheWay = join(data, `local.json.${running.child.pid}.next`);
    await mkdir(inTheWay);
    const killed = (await factsIn(data)).pids['renderer-2'] as number;
    process.kill(killed, 'SIGKILL');
    await eventually(() => running.output().includes('[renderer-2] is back'));
    await eventually(() => running.output().includes('local.json cannot be written'));
    await rmdir(inTheWay);
    const killedRedis = (await factsIn(data)).pids['redis'] as number;
    process.kill(killedRedis, 'SIGKILL');

    const now = await eventually(async () => differs('renderer-2', killed));
    await eventually(async () => differs('redis', killedRedis)); // The next test needs all parts running.

    expect(isAlive(now)).toBe(true);
  });

  test('when it is started again on the same folder, then the second start fails with one line', async () => {
    const second = run(['--data', data]);

    expect(await second.exitCode).toBe(1);
    expect(second.output().trim()).toBe(
      `Billhook already runs on the data folder ${data} (process ${facts.pids['supervisor']}). ` +
        'Stop it, or choose another with --data DIR',
    );
    expect(isAlive(facts.pids['gateway'] as number)).toBe(true);
  });

  test('when it was suspended by Ctrl-Z, then a second start fails, and it goes on when it is resumed', async () => {
    running.child.kill('SIGSTOP');
    const before = await factsIn(data);
    const second = run(['--data', data]);

    expect(await second.exitCode).toBe(1);
    expect(second.output()).toContain(`already runs on the data folder ${data} (process ${running.child.pid})`);
    running.child.kill('SIGCONT');
    expect(await factsIn(data)).toEqual(before);
    expect(Object.values(before.pids).every(isAlive)).toBe(true);
  });

  test('when the port is taken, then the line names it and one that may be free', async () => {
    const port = Number(new URL(facts.url).port);
    const second = run(['--data', join(folder, 'other')], { PORT: String(port) });

    expect(await second.exitCode).toBe(1);
    expect(second.output().trim()).toBe(
      `Port ${port} of 127.0.0.1 is taken by another program. Choose another, for example PORT=${port + 1} npm start`,
    );
  });

  test('when the port of the dashboard is taken, then the line names its variable', async () => {
    const second = run(['--data', join(folder, 'other')], { PORT: '0', OPERATIONS_PORT: String(operationsPort) });

    expect(await second.exitCode).toBe(1);
    expect(second.output().trim()).toMatch(
      new RegExp(`^Port ${operationsPort} .* OPERATIONS_PORT=${operationsPort + 1}`),
    );
  });

  test('when it is asked to stop, then services end first, nothing is left, and local.json is gone', async () => {
    const pids = Object.values((await factsIn(data)).pids);
    running.child.kill('SIGINT');
    running.child.kill('SIGINT'); // One Ctrl-C arrives twice under npm.

    expect(await running.exitCode).toBe(0);

    expect(pids.filter(isAlive)).toEqual([]);
    expect(await findMarked(data)).toEqual([]);
    await expect(stat(join(data, 'local.json'))).rejects.toThrow('ENOENT');
    const stopped = (await notes()).filter((line) => line.endsWith('stops')).map((line) => line.split(' ')[0]);
    expect(stopped.slice(0, 4).sort()).toEqual(['gateway', 'operations', 'portal', 'scheduler']);
    expect(stopped.slice(4, 6).sort()).toEqual(['mail', 'webhooks']);
    expect(stopped.slice(6)).toEqual(['renderer', 'renderer']);
  });
});

test('when the supervisor itself is killed, then its children end, and the next start keeps the key', async () => {
  const first = run(['--data', data]);
  const { pids, key } = await whenReady(first, data);
  first.child.kill('SIGKILL');

  await eventually(() => !Object.values(pids).some(isAlive));
  const second = run(['--data', data]);
  const facts = await whenReady(second, data, pids['supervisor']);

  expect(facts.key).toBe(key);
  second.child.kill('SIGTERM');
  expect(await second.exitCode).toBe(0);
  expect(await findMarked(data)).toEqual([]);
});

test('when it is asked to stop while a restarted part is not ready yet, then it does not wait for that part', async () => {
  const running = run(['--data', data]);
  const { pids } = await whenReady(running, data);
  const hangs = join(folder, 'notes.webhooks-hangs');
  await writeFile(hangs, '');
  process.kill(pids['webhooks'] as number, 'SIGKILL');
  const comesBack = await eventually(async () => {
    const started = (await notes()).findLast((line) => /^webhooks \d+ starts$/.test(line));
    return started !== `webhooks ${pids['webhooks']} starts` && Number(started?.split(' ')[1]);
  });
  running.child.kill('SIGINT');

  await eventually(() => !isAlive(comesBack), 20_000); // It has a minute to become ready.
  await rm(hangs);

  expect(await running.exitCode).toBe(0);
});

describe('rejected before anything is started', () => {
  test.each([
    ['--renderers', 'none', /--renderers must be a whole number from 1 to 16, not "none"/],
    ['--rendrers', '2', /Unknown option '--rendrers'/],
  ])('when %s %s is given, then the exit code is 78 and the line says why', async (flag, value, line) => {
    const rejected = run([flag, value], {}, REAL);

    expect(await rejected.exitCode).toBe(78);
    expect(rejected.output()).toMatch(line);
  });

  test('when two variables are wrong, then both are listed and the exit code is 78', async () => {
    const rejected = run([], { PORT: 'eighty', MONGODB_URI: 'localhost' }, REAL);

    expect(await rejected.exitCode).toBe(78);
    expect(rejected.output()).toMatch(/PORT must be a number\n.*MONGODB_URI/);
  });

  test('when variables that only services read are wrong or misspelt, then all are listed and the exit code is 78', async () => {
    const wrong = { PORT: 'eighty', WEBHOOK_TIMEOUT_MS: 'soon', RATE_LIMIT_REQUESTS: '-1', RENDER_CONCURENCY: '2' };
    const rejected = run(['--data', join(folder, 'never')], wrong, REAL);

    expect(await rejected.exitCode).toBe(78);
    expect(rejected.output().split('\n').slice(1, -1)).toEqual([
      '  - PORT must be a number',
      '  - RENDER_CONCURENCY is not a variable of Billhook, did you mean RENDER_CONCURRENCY?',
      '  - RATE_LIMIT_REQUESTS must be greater than or equal to 0',
      '  - WEBHOOK_TIMEOUT_MS must be a number',
    ]);
    await expect(stat(join(folder, 'never'))).rejects.toThrow('ENOENT');
  });

  test('when the dashboard would listen on other addresses than 127.0.0.1, then that is rejected and the exit code is 78', async () => {
    const rejected = run([], { OPERATIONS_HOST: '0.0.0.0' }, REAL);

    expect(await rejected.exitCode).toBe(78);
    expect(rejected.output()).toMatch(/OPERATIONS_HOST must be 127\.0\.0\.1 here/);
  });

  test('when a file that names a store holds no address, then the variable is named and the exit code is 78', async () => {
    const file = join(folder, 'address');
    await writeFile(file, 'localhost\n');
    const rejected = run([], { REDIS_URL_FILE: file }, REAL);

    expect(await rejected.exitCode).toBe(78);
    expect(rejected.output()).toMatch(/REDIS_URL must be redis:\/\//);
  });

  test('when the data folder cannot be made, then one line says so', async () => {
    const rejected = run(['--data', '/dev/null/data'], {}, REAL);

    expect(await rejected.exitCode).toBe(1);
    expect(rejected.output()).toMatch(
      /^The data folder \/dev\/null\/data cannot be used \(.*\)\. Choose another .*\n$/,
    );
  });
});

test('when --help is given, then the flags and the variables are listed', async () => {
  const help = run(['--help'], {}, REAL);

  expect(await help.exitCode).toBe(0);
  for (const word of ['--renderers', '--data', 'PORT', 'MONGODB_URI', 'local.json'])
    expect(help.output()).toContain(word);
});

function run(args: string[], env: Record<string, string> = {}, main = PRETENDED): Start {
  const started = start(main, args, { RENDER_NOTES: join(folder, 'notes'), ...env });
  starts.push(started);
  return started;
}

async function differs(name: string, former: number): Promise<number | false> {
  const { pids } = await factsIn(data);
  const pid = pids[name];
  return pid !== undefined && pid !== former && pid;
}

async function notes(): Promise<string[]> {
  return (await readFile(join(folder, 'notes'), 'utf8')).trim().split('\n');
}
