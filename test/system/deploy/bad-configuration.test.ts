// An invalid configuration: every program lists all problems at once and exits with 78.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
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

/**
 * Node.js can hang as it exits (nodejs/node#54918), and a supervisor ends such a process with a signal and starts it again, as
 * this does once.
 */
function run(program: string[], env: Record<string, string>, isAgain = false): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const place = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...compiledCode(process.env) };
    const child = execFile('node', program, { env: { ...place, ...env } }, (error, stdout, stderr) => {
      clearTimeout(timer);
      if (error?.signal === 'SIGTERM' && !isAgain) return resolve(run(program, env, true));
      resolve({ code: Number((error as { code?: number } | null)?.code ?? 0), output: stdout + stderr });
    });
    let timer = setTimeout(() => {
      const threads = threadsOf(child.pid);
      child.kill('SIGTERM');
      timer = setTimeout(() => {
        reject(new Error(`${program} did not end. Its threads:\n${threads}`));
        child.kill('SIGKILL'); // It still runs code of its own, which handles SIGTERM.
      }, LIMIT_MS);
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

const NO_NETWORK = { OUTBOUND_ALLOW: '10.0.0.0/8,home' };
const NO_KEY = { SECRET_KEY: 'almost-a-secret' };

test.each<[string, Record<string, string>]>([
  ['gateway', { ...NO_NETWORK, ...NO_KEY }],
  ['mail', { ...NO_NETWORK, ...NO_KEY }],
  ['operations', {}],
  ['portal', { ...NO_NETWORK, ...NO_KEY }],
  ['renderer', NO_NETWORK],
  ['scheduler', {}],
  ['webhooks', { ...NO_NETWORK, ...NO_KEY }],
])(
  'when variables of the %s are wrong, and one of each service is misspelt, then all are named and the exit code is 78',
  async (service, wrong) => {
    const misspelt = { LOG_LEVL: 'debug', RATE_LIMIT_REQUEST: '5', RENDER_CONCURENCY: '2', WEBHOOK_ATTEMPTS: '3' };
    const own = { HEALTH_PORT: 'eighty', REDIS_URL: 'localhost', ...wrong };

    const outcome = await run([`services/${service}/main.ts`], { ...SOUND, ...own, ...misspelt });

    expect(outcome.code).toBe(78);
    const expected = [
      '  - HEALTH_PORT must be a number',
      expect.stringMatching(/REDIS_URL must be redis:/),
      ...('OUTBOUND_ALLOW' in wrong ? [expect.stringMatching(/OUTBOUND_ALLOW holds home/)] : []),
      ...('SECRET_KEY' in wrong ? [expect.stringMatching(/SECRET_KEY must be base64 of 32 bytes/)] : []),
      '  - LOG_LEVL is not a variable of Billhook, did you mean LOG_LEVEL?',
      ...['RATE_LIMIT_REQUEST', 'RENDER_CONCURENCY', 'WEBHOOK_ATTEMPTS'].map((name) =>
        expect.stringContaining(`${name} is not a variable of Billhook`),
      ),
    ];
    expect(lines(outcome)).toHaveLength(expected.length);
    expect(lines(outcome)).toEqual(expect.arrayContaining(expected));
    // A secret is not repeated.
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
