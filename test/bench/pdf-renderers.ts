// What a document costs with more renderers: processor time, which does not depend on how many cores there are to share.
import { spawnService } from '../support/spawn-service.ts';
import type { BenchOptions } from './main.ts';
import { invoiceOf } from './pdf-floor.ts';
import { startPdfSystem, together } from './pdf-system.ts';
import { progress } from './progress.ts';
import { median, type Row, row } from './rows.ts';

const COUNTS = [1, 2, 4] as const;
const ROUNDS = 3;
const CALLERS = 8;
const DOCUMENTS = 200;
/** One page each: more pages at once than cores would measure how they crowd each other out of the caches. */
const ENV = { NODE_ENV: 'production', RENDER_CONCURRENCY: '1' };

export async function moreRenderers(options: BenchOptions): Promise<Row[]> {
  const system = await startPdfSystem(options, { env: ENV });
  const { key } = await system.workspace.account();
  const body = Buffer.from(JSON.stringify(invoiceOf(8)));

  async function cost(count: number): Promise<number> {
    while (system.renderers.length < count)
      system.renderers.push(await spawnService('renderer', system.workspace, ENV));
    while (system.renderers.length > count) await system.renderers.pop()?.stop();
    const rounds: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      progress(`documents: ${count} renderers, round ${round} of ${ROUNDS}`);
      const before = system.cpuMs();
      await together(CALLERS, DOCUMENTS, () => system.caller.post(body, key));
      if (round > 0) rounds.push((system.cpuMs() - before) / DOCUMENTS);
    }
    return median(rounds);
  }

  try {
    const costs: number[] = [];
    for (const count of COUNTS) costs.push(await cost(count));
    const [first = Number.NaN, ...more] = costs;
    // Once more at the end: the machine may have changed its pace meanwhile.
    const one = (first + (await cost(1))) / 2;
    return more.map((each, index) =>
      row(`PDF with ${COUNTS[index + 1]} renderers beside one, CPU`, 'ms', each, one, ['≤', 1.1]),
    );
  } finally {
    await system.close();
  }
}
