// Whether the victim noticed its neighbour, as a table.
import { percentile, type Waits } from './victim.ts';
import type { Peaks } from './watch.ts';

export interface Measured {
  name: string;
  /** Its number in the list of lab/README.md. */
  finding: string;
  alone: Waits;
  beside: Waits;
  peaks: Peaks;
  /** Requests or connections of the neighbour. */
  requests: number;
}

const RATIO_MAX = { records: 3, documents: 5 } as const;
/** Of the containers, see docker-compose.yml and deploy/kubernetes. */
const MEGABYTES_MAX = { gateway: 768, renderer: 1_024 } as const;
const LIVEZ_MAX_MS = 250;
const P95 = 0.95;

/** @returns what missed its target. */
export function judge({ alone, beside, peaks }: Measured): string[] {
  const isLong = (kind: 'records' | 'documents') =>
    percentile(beside[kind], P95) > RATIO_MAX[kind] * percentile(alone[kind], P95);
  return [
    ...(isLong('records') ? ['records'] : []),
    ...(isLong('documents') ? ['documents'] : []),
    ...(beside.refused.size > 0 ? ['refused'] : []),
    ...(peaks.gatewayMegabytes > MEGABYTES_MAX.gateway ? ['gateway memory'] : []),
    ...(peaks.rendererMegabytes > MEGABYTES_MAX.renderer ? ['renderer memory'] : []),
    ...(peaks.livezMs > LIVEZ_MAX_MS ? ['livez'] : []),
  ];
}

/** As a table in Markdown. */
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
    'missed',
  ];
  const rows = measured.map((one) => {
    const { name, finding, alone, beside, peaks } = one;
    const waits = (kind: 'records' | 'documents') =>
      `${whole(percentile(alone[kind], P95))} → ${whole(percentile(beside[kind], P95))} ms`;
    const refused = [...beside.refused].map(([status, count]) => `${count} × ${status}`).join(', ') || '0';
    const memory = [peaks.gatewayMegabytes, peaks.rendererMegabytes].map((size) => `${whole(size)} MB`);
    const missed = judge(one).join(', ') || 'none';
    return [
      name,
      finding,
      waits('records'),
      waits('documents'),
      refused,
      ...memory,
      `${whole(peaks.livezMs)} ms`,
      missed,
    ];
  });
  for (const row of [head, head.map(() => '---'), ...rows]) process.stdout.write(`| ${row.join(' | ')} |\n`);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
