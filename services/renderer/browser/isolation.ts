// Finds out how far Chromium can be isolated on this machine: its own user, an empty network, its own sandbox.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Logger } from '#libs/service/logger.ts';
import { LOWER_PRIORITY } from './give-way.ts';

const execute = promisify(execFile);
const PROBE_LIMIT_MS = 10_000;

/** The ids of "nobody" and "nogroup" on every Linux. They own nothing and may do nothing. */
const NOBODY = 65_534;

export interface Isolation {
  /** Programs with their arguments in front of Chromium's own command line. */
  wrapper: string[];
  /** The user who must own Chromium's folders, when it is another one than the renderer's. */
  owner: number | undefined;
  hasEmptyNetwork: boolean;
  hasSandbox: boolean;
}

/** Finds the isolation that the kernel permits, once at start, and logs it. */
export async function findIsolation(chromiumPath: string, log: Logger): Promise<Isolation> {
  const isRoot = process.getuid?.() === 0;
  const withoutNetwork = await firstThatRuns(
    isRoot ? [['unshare', '--net']] : [['unshare', '--user', '--map-current-user', '--net']],
  );
  // Chromium has no sandbox as root, so a root renderer starts it as user 65534, if that user can execute the program.
  // The test goes through a shell, because setpriv itself still executes a program with root's rights.
  const asItself = ['sh', '-c', 'exec "$0" --version', chromiumPath];
  const asNobody = isRoot ? await firstThatRuns([becomeNobody], [...withoutNetwork], asItself) : [];
  const withLowerPriority = await firstThatRuns([LOWER_PRIORITY]);
  const wrapper = [...withoutNetwork, ...asNobody, ...withLowerPriority];
  const isStillRoot = isRoot && asNobody.length === 0;
  const isolation: Isolation = {
    wrapper: wrapper[0] ? [await pathOf(wrapper[0]), ...wrapper.slice(1)] : [],
    owner: asNobody.length > 0 ? NOBODY : undefined,
    hasEmptyNetwork: withoutNetwork.length > 0,
    hasSandbox: !isStillRoot && (await allowsSandbox(wrapper)),
  };
  report(isolation, { isRoot, isStillRoot }, log);
  return isolation;
}

const becomeNobody = [
  'setpriv',
  `--reuid=${NOBODY}`,
  `--regid=${NOBODY}`,
  '--clear-groups',
  '--inh-caps=-all',
  '--no-new-privs',
];

// Chromium's sandbox puts each page into its own user, process and network namespace. The same call tells if it may.
async function allowsSandbox(wrapper: string[]): Promise<boolean> {
  if (process.platform !== 'linux') return true; // Other systems have sandboxes that need no namespaces.
  const asChromium = ['unshare', '--user', '--map-root-user', '--pid', '--net', '--fork'];
  return (await firstThatRuns([asChromium], wrapper)).length > 0;
}

async function firstThatRuns(candidates: string[][], before: string[] = [], command = ['true']): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  for (const candidate of candidates) {
    const [program, ...rest] = [...before, ...candidate, ...command];
    try {
      await execute(program as string, rest, { timeout: PROBE_LIMIT_MS });
      return candidate;
    } catch {
      // The kernel refuses it, or the program does not exist. The next weaker form is tried, and the log says so.
    }
  }
  return [];
}

function report(isolation: Isolation, user: { isRoot: boolean; isStillRoot: boolean }, log: Logger) {
  const { hasSandbox, hasEmptyNetwork } = isolation;
  log.info({ hasSandbox, hasEmptyNetwork, isRoot: user.isStillRoot }, 'isolation of chromium');
  if (user.isStillRoot) {
    log.warn(
      'chromium runs as root and WITHOUT its sandbox: run the renderer as an ordinary user, or let "nobody" read the program',
    );
  } else if (!hasSandbox) {
    log.warn('chromium runs WITHOUT its sandbox: this kernel or container forbids user namespaces');
  }
  if (!hasEmptyNetwork) {
    log.warn(
      'chromium shares the network namespace of the renderer: only its closed proxy and resolver rules keep it off the network',
    );
  }
}

// Puppeteer wants the program's full path, and only main.ts may look at PATH itself.
async function pathOf(program: string): Promise<string> {
  const { stdout } = await execute('sh', ['-c', 'command -v "$1"', 'sh', program], { timeout: PROBE_LIMIT_MS });
  return stdout.trim();
}

/** True when the user that Chromium runs as may read all the files. */
export async function canRead(files: string[], { wrapper }: Isolation): Promise<boolean> {
  const asChromium = [...wrapper, 'sh', '-c', 'for file; do test -r "$file" || exit 1; done', 'sh', ...files];
  return (await firstThatRuns([asChromium], [], [])).length > 0;
}
