// Loaded into a service before anything else (`node --import`): its clock is wrong by what a file says, from the moment the file says so.
// As after a step of the system's clock, timers and performance.now() go on as before.
import crypto from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { offsetFile, takenFile } from './clock-files.ts';

const LOOK_MS = 100;
const RealDate = Date;
const makeId = crypto.randomUUIDv7;
const prefix = process.env['CLOCK_FILES'] ?? '';
let offsetMs = 0;
let heardMs: number | undefined;

const now = () => RealDate.now() + offsetMs;

function look() {
  try {
    offsetMs = Number(readFileSync(offsetFile(prefix), 'utf8'));
    if (offsetMs !== heardMs) writeFileSync(takenFile(prefix), String(offsetMs));
    heardMs = offsetMs;
  } catch {
    // Not set yet, or another fault has used up all descriptors.
  }
}

look();
setInterval(look, LOOK_MS).unref();

globalThis.Date = new Proxy(RealDate, {
  // It makes real Date objects, which look like any other.
  construct: (target, values: [], maker) => Reflect.construct(target, values.length === 0 ? [now()] : values, maker),
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});

// Node asks the system itself for the time in an id.
crypto.randomUUIDv7 = (...values: Parameters<typeof makeId>) => {
  const id = makeId(...values);
  const time = (Number.parseInt(id.replace('-', '').slice(0, 12), 16) + offsetMs).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${id.slice(13)}` as typeof id;
};
syncBuiltinESMExports();
