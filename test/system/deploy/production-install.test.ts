// `npm install --omit=dev && npm start` in a fresh copy of the repository, as an operator types it.
import { execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { factsIn } from '../local/start-and-run.ts';

const INSTALL_LIMIT_MS = 240_000;
const START_LIMIT_MS = 120_000;
const execute = promisify(execFile);

/** The shell of an operator: no variable of this run, and no program of this repository's packages. */
const env = {
  HOME: process.env['HOME'] ?? '',
  PATH: (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter),
  PORT: '0',
  PORTAL_PORT: '0',
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-production-'));
  const { stdout } = await execute('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  for (const file of stdout.split('\0').filter(Boolean)) await cp(file, join(folder, file)).catch(ignoreDeleted);
  const options = ['--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'];
  await execute('npm', ['install', ...options], { cwd: folder, env, timeout: INSTALL_LIMIT_MS });
}, INSTALL_LIMIT_MS);
afterAll(() => rm(folder, { recursive: true, force: true }));

test(
  'when only the packages of production are installed, then the system starts, prints a document and stops',
  async () => {
    await expect(readFile(join(folder, 'node_modules', 'jest', 'package.json'))).rejects.toThrow('ENOENT');
    const child = spawn('npm', ['start'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const ready = new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text) => {
          output += text;
          if (output.includes('Ctrl-C')) resolve();
        });
      child.once('close', (code) => reject(new Error(`it ended with ${code}:\n${output}`)));
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    await ready;

    const { url, key, pids } = await factsIn(join(folder, '.billhook'));
    const document = {
      title: 'Invoice',
      number: 'INV-1',
      date: '2026-01-31',
      clientName: 'Ada',
      clientEmail: 'ada@example.com',
      partnerName: 'Studio North',
      partnerEmail: 'hello@north.example',
      amount: 100,
      lineItems: [],
    };
    const response = await fetch(`${url}/api/tools/generate-pdf`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(document),
    });
    process.kill(pids['supervisor'] ?? 0, 'SIGTERM');
    await ended;

    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  },
  START_LIMIT_MS,
);

/** A file that was deleted and not committed is still in git's index. */
function ignoreDeleted(error: NodeJS.ErrnoException) {
  if (error.code !== 'ENOENT') throw error;
}
