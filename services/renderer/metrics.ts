// Metrics of the renderer, beyond those in libs/service/metrics.ts.
import { Counter, Gauge, type Registry } from 'prom-client';
import { FORMER_NAMES, formerHelp, renderMetrics } from '#libs/service/metrics.ts';
import type { PrintingBrowser } from './browser/browser.ts';
import type { ReplaceReason } from './browser/instance-keeper.ts';
import type { RendererParts } from './render-document.ts';

const REASONS: readonly ReplaceReason[] = ['gone', 'prints', 'age', 'memory'];

export function observeRenderer(registry: Registry) {
  const { seconds, recycles } = renderMetrics(registry);
  const warnings = new Counter({
    name: 'billhook_render_warnings_total',
    help: 'Warnings about printed documents, such as images that could not be fetched and amounts that do not add up',
    registers: [registry],
  });
  for (const reason of REASONS) recycles.inc({ reason }, 0); // The series start at 0, as in libs/service/metrics.ts. Otherwise the first crash would be no increase.
  const onEnd: RendererParts['onEnd'] = (end) => {
    seconds.observe({ outcome: end.outcome }, end.seconds);
    warnings.inc(end.warnings);
  };
  return { onEnd, onReplaced: (reason: ReplaceReason) => recycles.inc({ reason }) };
}

const BROWSER_MEMORY = 'billhook_browser_memory_bytes';

export function watchBrowser(registry: Registry, browser: PrintingBrowser): void {
  const register = (name: string, help: string, unitsPerMegabyte: number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set((await browser.memoryMegabytes()) * unitsPerMegabyte);
      },
    });
  register(BROWSER_MEMORY, 'Memory that all processes of the current browser use', 2 ** 20);
  register(FORMER_NAMES[BROWSER_MEMORY], formerHelp(BROWSER_MEMORY), 1);
}
