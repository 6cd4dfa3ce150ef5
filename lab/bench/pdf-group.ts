// Documents: the whole path, HTTP in and PDF out, beside the same HTML printed by the protocol alone; in turn, in one run.
import { median } from 'es-toolkit/math/median';
import type { BenchOptions } from './main.ts';
import { PDF_TOOL } from './pdf-caller.ts';
import { htmlOf, invoiceOf, openPdfFloor, type PdfFloor } from './pdf-floor.ts';
import { longRun } from './pdf-long.ts';
import { overload } from './pdf-overload.ts';
import { moreRenderers } from './pdf-renderers.ts';
import { ownCpuMs, type PdfSystem, startPdfSystem, together } from './pdf-system.ts';
import { cpuMsOf } from './process-cpu.ts';
import { progress } from './progress.ts';
import { openRawCaller } from './raw-caller.ts';
import { type Row, row } from './rows.ts';

/** A shared machine is a tenth faster or slower from one second to the next. */
const ROUNDS = 9;
/** How much longer than the others the round is that warms up. */
const WARMING_FACTOR = 4;
/** Documents of one round, by eight callers: so many that their first and last, when not all of them are busy, count for little. */
const ONE_PAGE_PRINTS = 400;
const FIVE_PAGES_PRINTS = 100;
/** Share of the documents that one caller alone prints first. */
const ALONE_SHARE = 1 / 4;
const CALLERS = 8;
/** Two pages keep two cores busy; a third makes the floor no faster. */
const FLOOR_PAGES = 2;
/** Milliseconds that gateway, queue and renderer may add for one caller. */
const ADDED_MS = 8;

type Print = (caller: number) => Promise<unknown>;

interface Figures {
  p50: number;
  perSecond: number;
  cpuMsEach: number;
}

/** Values of `--part`. */
export const parts = ['one-page', 'five-pages', 'overload', 'renderers'] as const;

export async function* bench(options: BenchOptions): AsyncGenerator<Row[]> {
  const isWanted = (name: (typeof parts)[number]) => options.part === undefined || options.part === name;
  const floor = await openPdfFloor(options.chromiumPath, FLOOR_PAGES);
  const system = await startPdfSystem(options);
  try {
    if (isWanted('one-page')) yield await onePage(system, floor);
    if (isWanted('five-pages')) yield await fivePages(system, floor);
    if (isWanted('overload')) yield await overload(system);
  } finally {
    await Promise.all([floor.close(), system.close()]);
  }
  if (isWanted('renderers')) yield await moreRenderers(options);
  if (options.isLarge) yield await longRun(options);
}

async function onePage(system: PdfSystem, floor: PdfFloor): Promise<Row[]> {
  const [ours, bare] = await withConcurrencyLimit(system, floor, 8, ONE_PAGE_PRINTS);
  return [
    { ...row('PDF of one page, one caller, p50', 'ms', ours.p50, bare.p50), ...added(ours.p50, bare.p50) },
    row('PDF of one page, eight callers', '/s', ours.perSecond, bare.perSecond, ['≥', 0.6]),
    row('PDF of one page, CPU of all processes', 'ms', ours.cpuMsEach, bare.cpuMsEach, ['≤', 1.7]),
  ];
}

async function fivePages(system: PdfSystem, floor: PdfFloor): Promise<Row[]> {
  const [ours, bare] = await withConcurrencyLimit(system, floor, 150, FIVE_PAGES_PRINTS);
  return [
    row('PDF of five pages, eight callers', '/s', ours.perSecond, bare.perSecond, ['≥', 0.75]),
    row('PDF of five pages, CPU of all processes', 'ms', ours.cpuMsEach, bare.cpuMsEach),
  ];
}

function added(oursMs: number, floorMs: number) {
  return { target: `≤ floor + ${ADDED_MS} ms`, pass: oursMs <= floorMs + ADDED_MS };
}

/** Ours and the floor, round after round, so that what the machine does besides falls on both. */
async function withConcurrencyLimit(system: PdfSystem, floor: PdfFloor, lines: number, count: number) {
  const { key } = await system.workspace.account();
  const body = Buffer.from(JSON.stringify(invoiceOf(lines)));
  const caller = openRawCaller(system.gateway.url, PDF_TOOL, body);
  const printOurs: Print = async () => {
    const { status } = await caller.post(key);
    if (status !== 200) throw new Error(`the PDF tool answered ${status}`);
  };
  const html = htmlOf(lines);
  const printFloor: Print = (caller) => floor.print(caller, html);
  const ours: Figures[] = [];
  const bare: Figures[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    progress(`documents of ${lines} lines: round ${round} of ${ROUNDS}`);
    const prints = round === 0 ? count * WARMING_FACTOR : count;
    // The client of Billhook is this process and does not count; the client of the floor is part of the floor.
    const a = await figures(printOurs, CALLERS, prints, system.cpuMs);
    const b = await withOneBrowser(floor, () =>
      figures(printFloor, FLOOR_PAGES, prints, () => cpuMsOf([floor.pid]) + ownCpuMs()),
    );
    if (round === 0) continue;
    ours.push(a);
    bare.push(b);
  }
  caller.close();
  return [middle(ours), middle(bare)] as const;
}

/** Measures again when the floor's browser ended meanwhile: the start of another one is no part of the floor. */
async function withOneBrowser(floor: PdfFloor, measure: () => Promise<Figures>): Promise<Figures> {
  for (;;) {
    const before = floor.starts;
    const measured = await measure();
    if (floor.starts === before) return measured;
    progress('this round of the floor is measured again');
  }
}

async function figures(print: Print, callers: number, count: number, cpuMs: () => number): Promise<Figures> {
  const waits: number[] = [];
  for (let done = 0; done < count * ALONE_SHARE; done += 1) {
    const startedAt = performance.now();
    await print(0);
    waits.push(performance.now() - startedAt);
  }
  const cpuBefore = cpuMs();
  const tookMs = await together(callers, count, print);
  return {
    p50: median(waits),
    perSecond: count / (tookMs / 1_000),
    cpuMsEach: (cpuMs() - cpuBefore) / count,
  };
}

function middle(rounds: readonly Figures[]): Figures {
  const of = (pick: (figure: Figures) => number) => median(rounds.map(pick));
  return {
    p50: of(({ p50 }) => p50),
    perSecond: of(({ perSecond }) => perSecond),
    cpuMsEach: of(({ cpuMsEach }) => cpuMsEach),
  };
}
