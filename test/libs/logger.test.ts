// The log: nobody waits for a line, none is missing when the process ends by itself, and none holds what a store was asked to keep.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';

const COUNT = 2_000;

test('when a service says much and ends at once, then every line arrives, in order', () => {
  const program = `
    const { makeLogger } = await import('./libs/logger.ts');
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

test('when a service says one line and goes on, then the line arrives', async () => {
  const program = `
    const { makeLogger } = await import('./libs/logger.ts');
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

test('when a service is about to end by an error, then what it says of it does not wait', () => {
  const program = `
    const { makeLogger } = await import('./libs/logger.ts');
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

test('when an error of a store holds what it was asked to keep, then the line says what went wrong, and not that', () => {
  const program = `
    const { makeLogger } = await import('./libs/logger.ts');
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
