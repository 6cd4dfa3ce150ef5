// Documents: the whole path, HTTP in and PDF out, beside the same HTML printed by the protocol alone; in turn, in one run.
import { callerOf } from '../support/gateway.ts';
import { type SpawnedService, spawnService } from '../support/spawn-service.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import type { BenchOptions } from './main.ts';
import { htmlOf, invoiceOf, openPdfFloor, type PdfFloor } from './pdf-floor.ts';
import { cpuMsOf } from './process-cpu.ts';
import { progress } from './progress.ts';
import { median, type Row, row } from './rows.ts';

const ROUNDS = 5;
const CALLERS = 8;
/** Two pages keep two cores busy; a third makes the floor no faster. */
const FLOOR_PAGES = 2;
const UNLIMITED = { RATE_LIMIT_REQUESTS: '0', RATE_LIMIT_DOCUMENTS: '0' };
/** What gateway, queue and renderer may add for one caller. */
const ADDED_MS = 6;

type Print = (caller: number) => Promise<unknown>;

interface Figures {
  p50: number;
  perSecond: number;
  cpuMsEach: number;
}

export async function bench({ mongodbUri, redisUrl, chromiumPath }: BenchOptions): Promise<Row[]> {
  Object.assign(process.env, {
    TEST_MONGODB_URI: mongodbUri,
    TEST_REDIS_URL: redisUrl,
    TEST_CHROMIUM_PATH: chromiumPath,
  });
  const workspace = await openWorkspace();
  const [floor, gateway, renderer] = await Promise.all([
    openPdfFloor(chromiumPath, FLOOR_PAGES),
    spawnService('gateway', workspace, UNLIMITED),
    spawnService('renderer', workspace),
  ]);
  try {
    const system = { workspace, floor, gateway, renderer };
    return [...(await onePage(system)), ...(await fivePages(system))];
  } finally {
    await Promise.all([floor.close(), gateway.stop(), renderer.stop()]);
    await workspace.close();
  }
}

interface System {
  workspace: Workspace;
  floor: PdfFloor;
  gateway: SpawnedService;
  renderer: SpawnedService;
}

async function onePage(system: System): Promise<Row[]> {
  const [ours, floor] = await inTurn(system, 8, 200);
  return [
    { ...row('PDF of one page, one caller, p50', 'ms', ours.p50, floor.p50), ...added(ours.p50, floor.p50) },
    row('PDF of one page, eight callers', '/s', ours.perSecond, floor.perSecond, ['≥', 0.7]),
    row('PDF of one page, CPU of all processes', 'ms', ours.cpuMsEach, floor.cpuMsEach, ['≤', 1.5]),
  ];
}

async function fivePages(system: System): Promise<Row[]> {
  const [ours, floor] = await inTurn(system, 150, 40);
  return [
    row('PDF of five pages, eight callers', '/s', ours.perSecond, floor.perSecond, ['≥', 0.85]),
    row('PDF of five pages, CPU of all processes', 'ms', ours.cpuMsEach, floor.cpuMsEach),
  ];
}

function added(oursMs: number, floorMs: number) {
  return { target: `≤ floor + ${ADDED_MS} ms`, pass: oursMs <= floorMs + ADDED_MS };
}

/** Ours and the floor, round after round, so that what the machine does besides falls on both. */
async function inTurn({ workspace, floor, gateway, renderer }: System, lines: number, count: number) {
  const { key } = await workspace.account();
  const call = callerOf(gateway.url, key);
  const body = invoiceOf(lines);
  const printOurs: Print = async () => {
    const { status } = await call('POST', '/api/tools/generate-pdf', { body });
    if (status !== 200) throw new Error(`the PDF tool answered ${status}`);
  };
  const html = htmlOf(lines);
  const printFloor: Print = (caller) => floor.print(caller, html);
  // The client of ours is this process, and no part of ours; that of the floor is its other half.
  const oursPids = [gateway.pid, renderer.pid];
  const ours: Figures[] = [];
  const bare: Figures[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    progress(`documents of ${lines} lines: round ${round} of ${ROUNDS}`);
    const a = await figures(printOurs, CALLERS, count, () => cpuMsOf(oursPids));
    const b = await figures(printFloor, FLOOR_PAGES, count, () => cpuMsOf([floor.pid]) + ownCpuMs());
    if (round === 0) continue; // Warming up.
    ours.push(a);
    bare.push(b);
  }
  return [middle(ours), middle(bare)] as const;
}

async function figures(print: Print, callers: number, count: number, cpuMs: () => number): Promise<Figures> {
  const waits: number[] = [];
  for (let done = 0; done < count / 2; done += 1) {
    const startedAt = performance.now();
    await print(0);
    waits.push(performance.now() - startedAt);
  }
  const cpuBefore = cpuMs();
  const startedAt = performance.now();
  let begun = 0;
  const loop = async (caller: number) => {
    while (begun < count) {
      begun += 1;
      await print(caller);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_none, caller) => loop(caller)));
  return {
    p50: median(waits),
    perSecond: count / ((performance.now() - startedAt) / 1_000),
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

function ownCpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
