// The log: no caller waits for a line, none is missing when the process ends by itself, and none has the data of a store's command.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';

const COUNT = 2_000;

test('when a service logs much and ends at once, then every line arrives, in order', () => {
  const program = `
    const { makeLogger } = await import('./libs/service/logger.ts');
    const log = makeLogger('test', 'info');
    for (let count = 0; count < ${COUNT}; count += 1) log.info({ count }, 'said');
    process.exit(0);`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    maxBuffer: 10_000_000,
  });
  expect(status).toBe(0);
  const counts = stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { count: number }).count);
  expect(counts).toEqual(Array.from({ length: COUNT }, (_, index) => index));
});

test('when a service logs one line and keeps running, then the line arrives', async () => {
  const program = `
    const { makeLogger } = await import('./libs/service/logger.ts');
    makeLogger('test', 'info').info('ready');
    setTimeout(() => undefined, 60_000);`;
  const service = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  try {
    const [line] = await once(service.stdout, 'data');
    expect(JSON.parse(String(line))).toMatchObject({ msg: 'ready' });
  } finally {
    service.kill('SIGKILL');
  }
});

test('when a service is about to end because of an error, then its last lines are written at once', () => {
  const program = `
    const { makeLogger } = await import('./libs/service/logger.ts');
    const log = makeLogger('test', 'info');
    log.info('before');
    log.fatal('ending');
    process.kill(process.pid, 'SIGKILL');`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });

  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).msg),
  ).toEqual(['before', 'ending']);
});

describe('when the reader of the log', () => {
  const service = (says: string) => `
    const { run } = await import('./libs/service/lifecycle.ts');
    const { makeLogger } = await import('./libs/service/logger.ts');
    await run(async ({ onClose, useLogger }) => {
      const log = makeLogger('test', 'info');
      useLogger(log);
      const timer = setInterval(() => undefined, 1_000);
      onClose(() => clearInterval(timer));
      ${says}
      process.stderr.write('ready');
    });`;

  async function start(says: string, stdout: 'pipe' | number = 'pipe') {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', service(says)], {
      stdio: ['ignore', stdout, 'pipe'],
    });
    await once(child.stderr as Readable, 'data');
    return child;
  }

  test('is gone, then a service that gets SIGTERM ends', async () => {
    const child = await start('');
    try {
      child.stdout?.destroy();
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });

  const MUCH = 100_000; // lines, of some two hundred bytes each
  const saysMuch = `for (let count = 0; count < ${MUCH}; count += 1) log.info({ text: 'x'.repeat(100) }, 'said');`;

  test('is stuck, then a service that gets SIGTERM ends', async () => {
    const folder = await mkdtemp(`${tmpdir()}/billhook-log-`);
    const path = `${folder}/pipe`;
    spawnSync('mkfifo', [path]); // A shell and a container give a service such a pipe; Node's own pipes are different.
    const pipe = await open(path, 'r+');
    const child = await start(saysMuch, pipe.fd);
    try {
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
      await pipe.close();
      await rm(folder, { recursive: true });
    }
  });

  test('is stuck for a while, then some lines are dropped, and the others are whole', async () => {
    const child = await start(saysMuch);
    try {
      const ended = text(child.stdout as Readable);
      child.kill('SIGTERM');
      const lines = (await ended).trimEnd().split('\n');
      expect(lines.filter((line) => JSON.parse(line).service !== 'test')).toEqual([]);
      expect(lines.length).toBeLessThan(MUCH);
      expect(lines.length).toBeGreaterThan(MUCH / 10);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

test('when an error of a store has the data of its command, then the line has the error and not the data', () => {
  const program = `
    const { makeLogger } = await import('./libs/service/logger.ts');
    const log = makeLogger('test', 'info');
    const refused = Object.assign(new Error('OOM command not allowed'), {
      command: { name: 'eval', args: ['SET', Buffer.from('%PDF-secret'), 'secret'] },
    });
    const failed = Object.assign(new Error('write failed', { cause: refused }), { code: 11000, writeErrors: [{ op: { name: 'secret' } }] });
    log.warn({ err: refused }, 'refused');
    log.warn({ err: new AggregateError([failed], 'both') }, 'failed');
    log.warn({ err: 'text' }, 'said');
    process.exit(0);`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });

  expect(status).toBe(0);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { err: { type: 'Error', message: 'OOM command not allowed', command: 'eval', stack: expect.any(String) } },
    { err: { aggregateErrors: [{ message: expect.stringContaining('write failed'), code: 11000 }] } },
    { err: 'text' },
  ]);
  expect(stdout).not.toMatch(/secret|"data":\[|writeErrors/);
});
