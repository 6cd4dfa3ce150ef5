// Bytes that V8 retains among its old objects after calls have ended, counted before a full collection.
import { runModule } from './run-module.ts';

/** V8 collects the young generation every megabyte, and the old objects only once they are a gigabyte. */
const FLAGS = ['--min-semi-space-size=1', '--max-semi-space-size=1', '--initial-old-space-size=1024', '--expose-gc'];

const FRAME = `
import { getHeapSpaceStatistics } from 'node:v8';
const old = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space').space_used_size;
/** Calls \`one\` so often, four at a time. */
async function fourAtATime(count, one) {
  let left = count;
  const on = async () => { while (left-- > 0) await one(); };
  await Promise.all([on(), on(), on(), on()]);
}
/** @returns bytes per call, once everything is warm. */
async function keptOf(count, one) {
  await fourAtATime(count / 4, one);
  gc(); gc();
  const before = old();
  await fourAtATime(count, one);
  return (old() - before) / count;
}
`;

/** @param program a module that prints what `keptOf(count, one)` returns. */
export async function keptBytes(program: string, env: Record<string, string> = {}): Promise<number> {
  return Number((await runModule(FRAME + program, { flags: FLAGS, env })).trim());
}
