// An invalid configuration: every program lists all problems at once and exits with 78.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { compiledCode } from '../../../deploy/local/service-env.ts';

const SOUND = {
  MONGODB_URI: 'mongodb://127.0.0.1:1/none?replicaSet=rs0',
  REDIS_URL: 'redis://127.0.0.1:1',
  SECRET_KEY: randomBytes(32).toString('base64'),
  CHROMIUM_PATH: '/bin/sh',
};

interface Outcome {
  code: number;
  output: string;
}

/** A start takes a second, or ten on a busy machine. */
const LIMIT_MS = 60_000;

function run(program: string[], env: Record<string, string>): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const place = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...compiledCode(process.env) };
    const child = execFile('node', program, { env: { ...place, ...env } }, (error, stdout, stderr) => {
      clearTimeout(timer);
      resolve({ code: Number((error as { code?: number } | null)?.code ?? 0), output: stdout + stderr });
    });
    const timer = setTimeout(() => {
      reject(new Error(`${program} did not end. Its threads:\n${threadsOf(child.pid)}`));
      child.kill('SIGKILL'); // A process that hangs as it exits may ignore SIGTERM.
    }, LIMIT_MS);
  });
}

/** Returns the name, state, system call and wait of each thread, as the kernel of Linux shows them. */
function threadsOf(pid: number | undefined): string {
  try {
    const folder = `/proc/${pid}/task`;
    const read = (thread: string, file: string) => readFileSync(`${folder}/${thread}/${file}`, 'utf8').trim();
    return readdirSync(folder)
      .map((thread) => `${read(thread, 'stat')} syscall ${read(thread, 'syscall')} wchan ${read(thread, 'wchan')}`)
      .join('\n');
  } catch (error) {
    return `unknown (${error})`;
  }
}

const lines = ({ output }: Outcome) => output.split('\n').filter((line) => line.startsWith('  - '));

describe.each(['gateway', 'mail', 'operations', 'portal', 'renderer', 'scheduler', 'webhooks'])('the %s', (service) => {
  const start = (env: Record<string, string>) => run([`services/${service}/main.ts`], env);

  test('when two variables are wrong and one is misspelt, then all three are named and the exit code is 78', async () => {
    const wrong = { HEALTH_PORT: 'eighty', REDIS_URL: 'localhost', LOG_LEVL: 'debug' };

    const outcome = await start({ ...SOUND, ...wrong });

    expect(outcome.code).toBe(78);
    expect(lines(outcome)).toEqual([
      '  - HEALTH_PORT must be a number',
      expect.stringMatching(/REDIS_URL must be redis:/),
      '  - LOG_LEVL is not a variable of Billhook, did you mean LOG_LEVEL?',
    ]);
  });

  test('when only a variable of another service is misspelt, then it is named here as well', async () => {
    const outcome = await start({ ...SOUND, RATE_LIMIT_REQUEST: '5', RENDER_CONCURENCY: '2', WEBHOOK_ATTEMPTS: '3' });

    expect(outcome.code).toBe(78);
    expect(lines(outcome)).toHaveLength(3);
  });
});

test.each(['gateway', 'renderer', 'webhooks'])(
  'when OUTBOUND_ALLOW of the %s has an entry that is no network, then the entry is named and the exit code is 78',
  async (service) => {
    const outcome = await run([`services/${service}/main.ts`], { ...SOUND, OUTBOUND_ALLOW: '10.0.0.0/8,home' });

    expect(outcome.code).toBe(78);
    expect(outcome.output).toMatch(/OUTBOUND_ALLOW holds home/);
  },
);

test.each(['gateway', 'webhooks'])(
  'when the secret key of the %s is invalid, then the message does not repeat it',
  async (service) => {
    const outcome = await run([`services/${service}/main.ts`], { ...SOUND, SECRET_KEY: 'almost-a-secret' });

    expect(outcome).toEqual({ code: 78, output: expect.stringMatching(/SECRET_KEY must be base64 of 32 bytes/) });
    expect(outcome.output).not.toContain('almost-a-secret');
  },
);

test('when the browser of the renderer is missing, then its path is named and the exit code is 78', async () => {
  const outcome = await run(['services/renderer/main.ts'], { ...SOUND, CHROMIUM_PATH: '/no/such/chromium' });

  expect(outcome).toEqual({
    code: 78,
    output: expect.stringMatching(/CHROMIUM_PATH names \/no\/such\/chromium.*ENOENT/),
  });
});
