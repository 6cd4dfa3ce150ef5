// The job of the renderer: whoever waits gets an answer, and whoever does not wait costs nothing.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { renderDocument } from '#libs/jobs/catalog.ts';
import { announceCancel } from '#libs/jobs/replies.ts';
import { eventually } from '../support/eventually.ts';
import { anInvoice } from './documents.ts';
import { startRenderer, type TestRenderer } from './renderer.ts';

let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer({ RENDER_CONCURRENCY: '1' });
});
afterAll(() => renderer.close());

/** Takes the only page for several seconds. */
const slow = () =>
  anInvoice({
    bodyMarkdown: '| a |\n|---|\n'.concat('| > *b* **c** `d` e |\n'.repeat(4_500)),
    lineItems: Array.from({ length: 500 }, () => ({ description: 'word '.repeat(399), qty: 1, rate: 1 })),
  });

const outcomes = async (outcome: string) => {
  const text = await (await fetch(`${renderer.service.operationsUrl}/metrics`)).text();
  return Number(new RegExp(`billhook_render_seconds_count\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
};

test('when a document is printed, then neither it nor its PDF stays in Redis', async () => {
  await renderer.print(anInvoice());

  const keys = await eventually(async () => {
    const names = await renderer.queues.redis.keys(`${renderer.workspace.redisPrefix}:*`);
    return names.filter((name) => name.includes(':reply:') || /render-document:[0-9a-f-]{36}/.test(name)).length === 0;
  });
  expect(keys).toBe(true);
});

test('when the deadline of a waiting document passes, then it is dropped unprinted', async () => {
  const before = await outcomes('expired');
  const long = renderer.print(slow()).catch((error: unknown) => error);
  const late = renderer.print(anInvoice({ number: 'LATE' }), { deadlineMs: 300, signal: AbortSignal.timeout(15_000) });
  late.catch(() => undefined);

  await eventually(async () => (await outcomes('expired')) > before);
  await long;
});

describe('cancelling', () => {
  test('when nobody waits for a running document, then its page is free for the next', async () => {
    const before = await outcomes('cancelled');
    const id = randomUUID();
    const caller = new AbortController();
    const running = renderer.print(slow(), { id, signal: caller.signal }).catch((error: unknown) => error);
    await eventually(async () => (await renderer.queues.stateOf(renderDocument, id)) === 'active');

    caller.abort(new Error('gone'));
    await announceCancel(renderer.queues.redis, renderer.workspace.redisPrefix, id);

    await running;
    await eventually(async () => (await outcomes('cancelled')) > before);
    expect((await renderer.read(anInvoice({ number: 'NEXT' }))).text).toContain('NEXT');
  });

  test('when a job that is not ours is cancelled, then nothing happens', async () => {
    await announceCancel(renderer.queues.redis, renderer.workspace.redisPrefix, randomUUID());

    expect((await renderer.print(anInvoice())).warnings).toEqual([]);
  });
});

test('when a renderer is told to stop, then it finishes what it has in hand and leaves with code 0', async () => {
  const own = await startRenderer();
  const printing = Promise.all(Array.from({ length: 6 }, () => own.print(anInvoice())));
  await eventually(async () => (await own.queues.counts(renderDocument)).active > 0);
  // Others would take over what is still waiting; here there is no other, so only what was begun is awaited.
  await printing;

  expect(await own.service.stop()).toBe(0);
  await own.close();
});

test('when Chromium cannot be started three times, then the renderer ends with code 1 and says why', async () => {
  await expect(startRenderer({ CHROMIUM_PATH: '/bin/false' })).rejects.toMatchObject({
    message: expect.stringContaining('could not start'),
  });
});

test('when variables are missing or wrong, then all of them are listed at once', async () => {
  const started = startRenderer({ REDIS_PREFIX: 'not valid!', RENDER_CONCURRENCY: '0' });

  await expect(started).rejects.toMatchObject({
    message: expect.stringMatching(/REDIS_PREFIX.*RENDER_CONCURRENCY/s),
  });
});
