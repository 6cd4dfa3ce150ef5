// Puppeteer: disconnect(), the last step of close(), removes the listeners of the browser's pipes. When a browser that has not read every
// command is killed after that, the pipes are reset and the error ends the process.
import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import puppeteer from 'puppeteer-core';
import { findChromium } from '../../deploy/backends/chromium.ts';

const COMMANDS = 20;
/** Together more than the pipe of a browser that does not read takes. */
const COMMAND_CHARACTERS = 100_000;
const STEP_MS = 300;
const SHOWS_WITHIN_MS = 1_500;

const [, , chromium] = process.argv;
if (chromium) await killWithUnreadCommands(chromium);
else await report();

async function report() {
  const { command, version } = await findChromium({ env: process.env });
  // The fault ends a process, so it happens in another one.
  const { status, stderr } = spawnSync(process.execPath, [import.meta.filename, command], { encoding: 'utf8' });
  const isReset = status !== 0 && stderr.includes('ECONNRESET');
  if (status !== 0 && !isReset) throw new Error(stderr);
  const verdict = isReset ? 'still there: uncaught ECONNRESET' : 'repaired';
  process.stdout.write(`puppeteer-core, pipes of a killed Chromium ${version}: ${verdict}\n`);
}

async function killWithUnreadCommands(executablePath: string) {
  const args = ['--headless', '--no-sandbox', '--remote-debugging-pipe', 'about:blank'];
  const browser = await puppeteer.launch({ executablePath, args, ignoreDefaultArgs: true, pipe: true });
  const pid = browser.process()?.pid as number;
  const session = await browser.target().createCDPSession();
  process.kill(pid, 'SIGSTOP');
  const expression = ' '.repeat(COMMAND_CHARACTERS);
  for (let sent = 0; sent < COMMANDS; sent += 1) {
    session.send('Runtime.evaluate', { expression }).catch(() => undefined);
  }
  await pause(STEP_MS);
  void browser.disconnect();
  await pause(STEP_MS);
  process.kill(-pid, 'SIGKILL');
  await pause(SHOWS_WITHIN_MS);
  process.exit();
}
