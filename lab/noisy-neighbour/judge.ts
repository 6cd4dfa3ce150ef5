// Whether the victim noticed its neighbour, as a table.
import { percentile, type Waits } from './victim.ts';
import type { Seen } from './watch.ts';

export interface Measured {
  name: string;
  /** Its number in the list of lab/README.md. */
  finding: string;
  alone: Waits;
  beside: Waits;
  /** Beside it. */
  seen: Seen;
  /** Requests or connections of the neighbour. */
  requests: number;
}

/** How many times as long as alone, see docs/reliability.md. */
const RATIO_MAX = 5;
/** Memory limits of the containers, see docker-compose.yml and deploy/kubernetes. */
const MEGABYTES_MAX = { gateway: 768, renderer: 1_024 } as const;
const LIVEZ_MAX_MS = 250;
const P95 = 0.95;

/** @returns what missed its target. */
export function judge({ alone, beside, seen, requests }: Measured): string[] {
  // Also of a percentile that is not a number, because nothing was measured.
  const isLong = (kind: 'records' | 'documents') =>
    !(percentile(beside[kind], P95) <= RATIO_MAX * percentile(alone[kind], P95));
  return [
    ...(requests === 0 ? ['neighbour'] : []),
    ...(isLong('records') ? ['records'] : []),
    ...(isLong('documents') ? ['documents'] : []),
    ...(beside.refused.size > 0 ? ['refused'] : []),
    ...(seen.gatewayMegabytes > MEGABYTES_MAX.gateway ? ['gateway memory'] : []),
    ...(seen.rendererMegabytes > MEGABYTES_MAX.renderer ? ['renderer memory'] : []),
    ...(seen.livezMs > LIVEZ_MAX_MS ? ['livez'] : []),
  ];
}

/** Prints a table in Markdown. */
export function printMeasured(measured: readonly Measured[]): void {
  const head = [
    'neighbour',
    'finding',
    'records p95',
    'documents p95',
    'refused',
    'gateway',
    'renderer',
    '/livez',
    'requests',
    'cores of gateway, renderer, stores, neighbour',
    'missed',
  ];
  const rows = measured.map((one) => {
    const { name, finding, alone, beside, seen, requests } = one;
    const waits = (kind: 'records' | 'documents') => {
      const [before, after] = [alone, beside].map((of) => percentile(of[kind], P95)) as [number, number];
      return `${short(before)} → ${short(after)} ms (${(after / before).toFixed(1)} ×)`;
    };
    const refused = [...beside.refused].map(([status, count]) => `${count} × ${status}`).join(', ') || '0';
    const memory = [seen.gatewayMegabytes, seen.rendererMegabytes].map((size) => `${whole(size)} MB`);
    const { busy } = seen;
    const missed = judge(one).join(', ') || 'none';
    return [
      name,
      finding,
      waits('records'),
      waits('documents'),
      refused,
      ...memory,
      `${whole(seen.livezMs)} ms`,
      whole(requests),
      [busy.gateway, busy.renderer, busy.stores, busy.neighbour].map((share) => share.toFixed(2)).join(', '),
      missed,
    ];
  });
  for (const row of [head, head.map(() => '---'), ...rows]) process.stdout.write(`| ${row.join(' | ')} |\n`);
}

function short(ms: number): string {
  return ms < 100 ? ms.toFixed(1) : whole(ms);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
