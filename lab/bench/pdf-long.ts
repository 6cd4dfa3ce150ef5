// Ten thousand documents of every kind through one renderer: does one hold anything of another, and does the renderer grow.
import { randomBytes } from 'node:crypto';
import { median } from 'es-toolkit/math/median';
import { readPdfTexts } from '../../test/support/renderer/read-pdf-texts.ts';
import type { BenchOptions } from './main.ts';
import { type MixedDocument, mixedDocument, TOKEN } from './pdf-mixed.ts';
import { type PdfSystem, startPdfSystem, together } from './pdf-system.ts';
import { residentMegabytesOf } from './process-cpu.ts';
import { progress } from './progress.ts';
import { type Row, row } from './rows.ts';

const DOCUMENTS = 10_000;
const CALLERS = 6;
/** Documents before the first reading of the growth. The last reading is over as many at the end. */
const FIRST = 100;
const READINGS = 20;
const PROGRESS_STEP = 250;

export async function longRun(options: BenchOptions, documents = DOCUMENTS): Promise<Row[]> {
  // No replacement of the browser may hide what grows.
  const system = await startPdfSystem(options, { env: { RECYCLE_PRINTS: String(documents * 10) } });
  try {
    const { key } = await system.workspace.account();
    const sizes: { after: number; megabytes: number }[] = [];
    const faults: string[] = [];
    let done = 0;
    let left = 0;
    await together(CALLERS, documents, async () => {
      const mixed = mixedDocument(randomBytes);
      if (mixed.leavesAfterMs === undefined) faults.push(...(await faultsOf(mixed, system, key)));
      else left += await abandon(mixed, system, key);
      done += 1;
      if (done >= FIRST && done % 10 === 0) sizes.push({ after: done, megabytes: rendererMegabytes(system) });
      if (done % PROGRESS_STEP === 0) {
        progress(
          `documents: ${done} of ${documents}, ${faults.length} faults, ${sizes.at(-1)?.megabytes.toFixed(0)} MB`,
        );
      }
    });
    for (const fault of faults.slice(0, 5)) progress(fault);
    const first = median(sizes.slice(0, READINGS).map(({ megabytes }) => megabytes));
    const last = median(sizes.slice(-READINGS).map(({ megabytes }) => megabytes));
    return [
      {
        ...row(`Faults in ${done} mixed documents (${left} callers left)`, '', faults.length, 0),
        ratio: 0,
        target: '0',
        pass: faults.length === 0,
      },
      row(`Memory of a renderer after ${done} documents beside ${FIRST}`, 'MB', last, first, ['≤', 1.2]),
    ];
  } finally {
    await system.close();
  }
}

function rendererMegabytes({ renderers }: PdfSystem): number {
  return residentMegabytesOf(renderers.map(({ pid }) => pid));
}

/** Every token of its own must be there, as words of the page and in the name of the document; and no other token. */
async function faultsOf({ document, tokens, number }: MixedDocument, { caller }: PdfSystem, key: string) {
  const { status, bytes } = await caller.post(Buffer.from(JSON.stringify(document)), key);
  if (status !== 200) return [`${number}: answered ${status} ${bytes.toString('utf8', 0, 200)}`];
  const { text, title, author } = await readPdfTexts(bytes);
  // A long word may be broken over two lines.
  const found = new Set(`${text} ${title} ${author}`.replaceAll(/\s/g, '').match(TOKEN) ?? []);
  const lost = tokens.filter((token) => !found.delete(token));
  const foreign = [...found];
  return [
    ...(lost.length > 0 ? [`${number}: lacks ${lost.join(' ')}`] : []),
    ...(foreign.length > 0 ? [`${number}: holds ${foreign.join(' ')} of another`] : []),
    ...(title.includes(number) ? [] : [`${number}: is called ${title}`]),
  ];
}

/** A caller that disconnects while it waits: its words must not appear in the next document. @returns 1 when it disconnected in time. */
async function abandon({ document, leavesAfterMs = 0 }: MixedDocument, { caller }: PdfSystem, key: string) {
  const signal = AbortSignal.timeout(leavesAfterMs);
  try {
    await caller.post(Buffer.from(JSON.stringify(document)), key, signal);
    return 0;
  } catch {
    return 1;
  }
}
