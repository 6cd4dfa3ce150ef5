// Loaded into a service before anything else (`node --import`): its clock is wrong by what a file says, from the moment the file says so.
// As after a step of the system's clock, timers and performance.now() go on as before.
import { readFileSync, writeFileSync } from 'node:fs';
import { offsetFile, takenFile } from './clock-files.ts';

const LOOK_MS = 100;
const RealDate = Date;
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
