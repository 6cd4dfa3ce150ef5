// Stops the processes of a supervisor that was killed. Its standard input is a pipe from the supervisor, which the kernel closes
// however the supervisor dies.
import { spawn } from 'node:child_process';
import { endMarked } from './orphans.ts';

const ALL_IS_WELL = 'done\n';

export interface Guardian {
  // Tells the guardian that everything was stopped in order.
  dismiss(): void;
}

export function postGuardian(dataFolder: string): Guardian {
  const guardian = spawn(process.execPath, [import.meta.filename, dataFolder, String(process.pid)], {
    // The guardian has its own session, so that neither Ctrl-C nor a signal to the parent's group reaches it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    // It must keep neither the parent's output nor its working directory open.
    cwd: '/',
  });
  guardian.on('error', () => {}); // If it does not start, the next start cleans up.
  guardian.stdin.on('error', () => {}); // The guardian was killed, and the next start cleans up.
  guardian.unref();
  return { dismiss: () => void guardian.stdin.end(ALL_IS_WELL) };
}

async function watch(dataFolder: string, supervisor: number) {
  let heard = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) heard += chunk;
  if (heard !== ALL_IS_WELL) await endMarked(dataFolder, { supervisor });
}

const [, script, dataFolder, supervisor] = process.argv;
// The promise is not awaited, because the test runner loads this file without top-level await.
if (script === import.meta.filename && dataFolder) watch(dataFolder, Number(supervisor)).catch(() => process.exit(1));
