// Outlives a supervisor that is killed without a chance to tidy up, ends what it left behind, and goes.
// Its standard input is a pipe from the supervisor: the kernel closes it however the supervisor dies.
import { spawn } from 'node:child_process';
import { endMarked } from './orphans.ts';

const ALL_IS_WELL = 'done\n';

export interface Guardian {
  // Everything was stopped in order: nothing is left for the guardian to do.
  dismiss(): void;
}

export function postGuardian(dataFolder: string): Guardian {
  const guardian = spawn(process.execPath, [import.meta.filename, dataFolder, String(process.pid)], {
    // A session of its own: neither Ctrl-C nor a signal to our group reaches it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    // It must not stay for us when we are the ones who wait, nor keep a folder busy.
    cwd: '/',
  });
  guardian.on('error', () => {}); // Without it the next start still clears what was left.
  guardian.stdin.on('error', () => {}); // Killed by hand: as above.
  guardian.unref();
  return { dismiss: () => void guardian.stdin.end(ALL_IS_WELL) };
}

async function watch(dataFolder: string, supervisor: number) {
  let heard = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) heard += chunk;
  if (heard !== ALL_IS_WELL) await endMarked(dataFolder, { supervisor });
}

const [, script, dataFolder, supervisor] = process.argv;
// Not awaited here: the test runner loads this file in a way that has no top-level await.
if (script === import.meta.filename && dataFolder) watch(dataFolder, Number(supervisor)).catch(() => process.exit(1));
