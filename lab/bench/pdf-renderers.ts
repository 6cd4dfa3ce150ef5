// Measures the processor time of a document with more renderers. It does not depend on the number of cores.
import { median } from 'es-toolkit/math/median';
import { openBenchWorkspace } from './bench-workspace.ts';
import type { BenchOptions } from './main.ts';
import { invoiceOf } from './pdf-floor.ts';
import { type PdfSystem, startServices, together } from './pdf-system.ts';
import { progress } from './progress.ts';
import { type Row, row } from './rows.ts';

const COUNTS = [1, 2, 4] as const;
const ROUNDS = 5;
const CALLERS = 8;
const DOCUMENTS = 200;
/** One page each: more pages at once than cores would measure how they evict each other from the caches. */
const ENV = { NODE_ENV: 'production', RENDER_CONCURRENCY: '1' };

/** All systems are up at the same time and print in turn: what the machine does besides falls on each. */
export async function moreRenderers(options: BenchOptions): Promise<Row[]> {
  const body = Buffer.from(JSON.stringify(invoiceOf(8)));
  const workspace = await openBenchWorkspace(options);
  const systems: { count: number; system: PdfSystem; key: string; rounds: number[] }[] = [];
  try {
    for (const count of COUNTS) {
      const itsOwn = { ...workspace, redisPrefix: `${workspace.redisPrefix}-${count}` };
      const system = await startServices(itsOwn, { renderers: count, env: ENV });
      const { key } = await workspace.account();
      systems.push({ count, system, key, rounds: [] });
    }
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const { count, system, key, rounds } of systems) {
        progress(`documents: ${count} renderers, round ${round} of ${ROUNDS}`);
        // Every renderer is to be warm, not only the system.
        const documents = round === 0 ? DOCUMENTS * count : DOCUMENTS;
        const before = system.cpuMs();
        await together(CALLERS, documents, () => system.caller.post(body, key));
        if (round > 0) rounds.push((system.cpuMs() - before) / documents);
      }
    }
    const [one = Number.NaN, ...more] = systems.map(({ rounds }) => median(rounds));
    return more.map((each, index) =>
      row(`PDF with ${COUNTS[index + 1]} renderers beside one, CPU`, 'ms', each, one, ['≤', 1.15]),
    );
  } finally {
    for (const { system } of systems) await system.close();
    await workspace.close();
  }
}
