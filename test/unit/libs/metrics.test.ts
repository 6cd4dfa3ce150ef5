// Metrics while a store is unavailable: all but those that are read from it.
import { expect, test } from '@jest/globals';
import { makeMetrics, watchBatches, watchOutbox } from '#libs/service/metrics.ts';
import { eventually } from '../../support/eventually.ts';

test.each([
  ['does not respond', () => new Promise<never>(() => undefined)],
  ['is unavailable', () => Promise.reject(new Error('no primary'))],
])('when MongoDB %s, then its metrics are absent, not zero, and the others are reported', async (_how, read) => {
  const registry = makeMetrics();
  watchOutbox(registry, read);
  watchBatches(registry, read);
  const text = await registry.metrics();

  expect(text).toMatch(/^process_cpu_seconds_total \d/m);
  expect(text).toMatch(/^billhook_build_info\{version="\d+\.\d+\.\d+[^"]*"\} 1$/m);
  expect(text).not.toMatch(/^billhook_(?!build_info)/m);
});

test('when MongoDB is back, then the gauges are, too', async () => {
  const registry = makeMetrics();
  let read = () => Promise.reject<number>(new Error('no primary'));
  watchOutbox(registry, () => read());
  await registry.metrics();
  read = () => Promise.resolve(2_500);

  await eventually(async () => /^billhook_outbox_lag_seconds 2.5$/m.test(await registry.metrics()));
});
