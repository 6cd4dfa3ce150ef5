// What the renderer tells about itself, beyond what libs/service/metrics.ts names.
import { Counter, Gauge, type Registry } from 'prom-client';
import { renderMetrics } from '#libs/service/metrics.ts';
import type { PrintingBrowser, ReplaceReason } from './browser/browser.ts';
import type { RendererParts } from './render-document.ts';

const REASONS: readonly ReplaceReason[] = ['gone', 'prints', 'age', 'memory'];

export function observeRenderer(registry: Registry) {
  const { seconds, recycles } = renderMetrics(registry);
  const warnings = new Counter({
    name: 'billhook_render_warnings_total',
    help: 'Warnings that went with documents: images that could not be had, amounts that do not add up',
    registers: [registry],
  });
  for (const reason of REASONS) recycles.inc({ reason }, 0); // As in libs/service/metrics.ts: a first crash is an increase, too.
  const onEnd: RendererParts['onEnd'] = (end) => {
    seconds.observe({ outcome: end.outcome }, end.seconds);
    warnings.inc(end.warnings);
  };
  return { onEnd, onReplaced: (reason: ReplaceReason) => recycles.inc({ reason }) };
}

export function watchBrowser(registry: Registry, browser: PrintingBrowser): void {
  new Gauge({
    name: 'billhook_browser_memory_megabytes',
    help: 'Memory all processes of the current browser hold',
    registers: [registry],
    async collect() {
      this.set(await browser.memoryMegabytes());
    },
  });
}
