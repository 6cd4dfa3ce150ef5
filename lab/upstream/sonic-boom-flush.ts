// sonic-boom 4, which pino depends on: a process whose log reader is gone does not end, because the flush at its exit retries without a limit.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';

const LIMIT_MS = 5_000;
/** As `libs/service/logger.ts` batches its lines. */
const BATCHED = { minLength: 3_072, maxWrite: 4_096, sync: false };
const LINES = 2_000;

if (process.argv[2] === 'log') logAndEnd();
else await report();

async function report() {
  const child = spawn(process.execPath, [import.meta.filename, 'log'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(() => true);
  await once(child.stdout, 'readable');
  // The reader stays and reads nothing more.
  const isEnded = await Promise.race([ended, pause(LIMIT_MS, false)]);
  child.kill('SIGKILL');
  const verdict = isEnded ? 'repaired: the process ended' : `still there: it had not ended after ${LIMIT_MS / 1_000} s`;
  process.stdout.write(`sonic-boom of pino, a log that nothing reads: ${verdict}\n`);
}

function logAndEnd() {
  // Reading `fd` makes Node switch a pipe to non-blocking writes.
  const log = pino(pino.destination({ fd: process.stdout.fd, ...BATCHED }));
  for (let line = 0; line < LINES; line += 1) log.info({ text: 'x'.repeat(200) }, 'a line');
  setTimeout(() => process.exit(), 1_000);
}
