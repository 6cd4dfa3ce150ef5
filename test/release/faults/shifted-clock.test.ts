// The clock of a service can be set wrong and right again while it runs: otherwise the clock faults would test nothing.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { setClock, withClock } from '../../support/faults/system/clock-files.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Prints the time again and again: by a date, by the clock, and by an id. */
const PROGRAM = `import { newId, timeOfId } from '#libs/models/tenant.ts';
const idTime = () => timeOfId(newId()).getTime();
setInterval(() => console.log(JSON.stringify([new Date().getTime(), Date.now(), idTime(), new Date(5).getTime()])), 50);`;

test('when the clock of a process is set, then its dates and ids follow the clock', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'billhook-clock-'));
  const prefix = join(folder, 'clock');
  const child = spawn('node', ['--input-type=module', '--eval', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...withClock(prefix) },
  });
  let printed: number[] = [];
  createInterface(child.stdout).on('line', (line) => (printed = JSON.parse(line)));
  try {
    for (const offsetMs of [0, HOUR_MS, -HOUR_MS, 0]) {
      await setClock(prefix, offsetMs);
      const isWrongBy = (time: number) => Math.abs(time - Date.now() - offsetMs) < MINUTE_MS;
      await eventually(() => printed.length === 4 && printed.slice(0, 3).every(isWrongBy));
      expect(printed[3]).toBe(5);
    }
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  }
});
