// Starts a service and waits until its health port reports ready.
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { EXIT_CONFIG } from '#libs/service/config-error.ts';
import { CLOSE_LIMIT_MS } from '#libs/service/lifecycle.ts';
import { type Child, describeExit, startChild } from '../backends/child.ts';
import { Failure } from '../backends/failure.ts';
import { logFileOf } from './data-folder.ts';
import { nodeEnvironmentOf, nodeFlagsOf } from './node-flags.ts';
import { endOurs, MARK, markOf } from './orphans.ts';
import type { Running } from './supervise.ts';
import { briefly, type Terminal } from './terminal.ts';

export interface ServiceOptions {
  name: string; // the process: "renderer-2"
  service: string; // the folder in services/: "renderer"
  root: string; // holds services/
  dataFolder: string;
  config: { isWatching: boolean };
  healthPort: number;
  env: NodeJS.ProcessEnv;
  terminal: Terminal;
}

const READY_LIMIT_MS = 60_000;
const POLL_MS = 100;
const PROBE_LIMIT_MS = 3_000;
// A service normally ends sooner; a second Ctrl-C skips the wait.
const STOP_LIMIT_MS = CLOSE_LIMIT_MS + 5_000;
const LAST_WORDS_LIMIT_MS = 1_000;

export async function startService(options: ServiceOptions): Promise<Running> {
  const { name, root, dataFolder } = options;
  const watching = options.config.isWatching ? watchFlagsOf(options.service) : [];
  const args = [...nodeFlagsOf(options.service), ...watching, join('services', options.service, 'main.ts')];
  const child = await startChild(process.execPath, args, {
    cwd: root,
    env: {
      ...nodeEnvironmentOf(options.service),
      ...options.env,
      HEALTH_PORT: String(options.healthPort),
      HEALTH_HOST: '127.0.0.1',
      [MARK]: markOf(dataFolder, name),
    },
  });
  const output = followOutput(child, options);
  const exited = child.exited.then(async (exit) => {
    // A killed renderer leaves its browser, which runs in another process group.
    await endOurs(dataFolder, name);
    return exit;
  });
  const stop = async () => {
    output.hide(); // Messages of a requested shutdown go to the log only.
    await child.stop(STOP_LIMIT_MS);
    await exited;
  };
  try {
    await becomeReady(child, options);
    return { pid: child.pid, exited, stop };
  } catch (error) {
    // The last lines give the reason and may still be buffered.
    if (child.hasExited()) await Promise.race([output.ended, wait(LAST_WORDS_LIMIT_MS)]);
    await stop();
    throw error;
  }
}

// Node itself starts the service again when a file of these folders changes.
function watchFlagsOf(service: string): string[] {
  return ['--watch', '--watch-preserve-output', `--watch-path=services/${service}`, '--watch-path=libs'];
}

async function becomeReady(child: Child, { name, dataFolder, healthPort }: ServiceOptions) {
  const log = logFileOf(dataFolder, name);
  const deadline = performance.now() + READY_LIMIT_MS;
  while (performance.now() < deadline) {
    if (child.hasExited()) {
      const exit = await child.exited;
      // A configuration error is passed on with its text and exit code.
      const options = exit.code === EXIT_CONFIG ? { exitCode: EXIT_CONFIG } : {};
      throw new Failure(`${name} did not start (${describeExit(exit)}), see ${log}`, options);
    }
    if (await isReady(healthPort)) return;
    await wait(POLL_MS);
  }
  throw new Failure(`${name} was not ready after ${READY_LIMIT_MS / 1000} s, see ${log}`);
}

// By `node:http`, because loading `fetch` takes a tenth of a second of processor time.
function isReady(healthPort: number): Promise<boolean> {
  return new Promise((resolve) => {
    const url = `http://127.0.0.1:${healthPort}/readyz`;
    get(url, { signal: AbortSignal.timeout(PROBE_LIMIT_MS) }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    }).on('error', () => resolve(false)); // It does not listen yet.
  });
}

// Writes every line to the service's log file, and warnings to the terminal, too.
function followOutput(child: Child, { name, dataFolder, terminal }: ServiceOptions) {
  const log = createWriteStream(logFileOf(dataFolder, name), { flags: 'a' });
  let shown: string | undefined;
  let isHidden = false;
  log.on('error', (error) => terminal.note(name, `its log cannot be written: ${error.message}`));

  function follow(line: string) {
    log.write(`${line}\n`);
    const short = briefly(line);
    // During an outage a service logs every try; the terminal shows the first.
    if (isHidden || short === undefined || short === shown) return;
    shown = short;
    terminal.note(name, short);
  }

  for (const input of [child.process.stdout, child.process.stderr]) {
    if (input) createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }).on('line', follow);
  }
  const ended = once(child.process, 'close').then(() => log.end());
  return {
    ended,
    hide: () => {
      isHidden = true;
    },
  };
}
