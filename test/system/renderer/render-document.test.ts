// The job of the renderer: every waiting caller gets a result, and an abandoned document costs nothing.
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openFairLimit } from '#libs/fair-limit.ts';
import { renderDocument } from '#libs/jobs/catalog.ts';
import { announceCancel, openReplies } from '#libs/jobs/replies.ts';
import { compileTemplate } from '../../../services/renderer/document/template.ts';
import type { Images } from '../../../services/renderer/images/fetch-image.ts';
import { type RendererParts, renderDocumentWith } from '../../../services/renderer/render-document.ts';
import { eventually } from '../../support/eventually.ts';
import { anInvoice } from '../../support/renderer/documents.ts';
import { type SpawnedRenderer, spawnRenderer } from '../../support/renderer/renderer.ts';
import { testLog } from '../../support/workspace.ts';

let renderer: SpawnedRenderer;
beforeAll(async () => {
  renderer = await spawnRenderer({ RENDER_CONCURRENCY: '1' });
});
afterAll(() => renderer.close());

/** Takes the only page for several seconds. */
const slow = () =>
  anInvoice({
    bodyMarkdown: '| a |\n|---|\n'.concat('| > *b* **c** `d` e |\n'.repeat(700)),
    lineItems: Array.from({ length: 90 }, () => ({ description: 'word '.repeat(399), qty: 1, rate: 1 })),
  });

const outcomes = async (outcome: string) => {
  const text = await (await fetch(`${renderer.service.healthUrl}/metrics`)).text();
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

test('when the time zone of the machine is west of UTC, then dates are not a day early', async () => {
  const west = await spawnRenderer({ TZ: 'America/Los_Angeles' });
  const { text } = await west.read(anInvoice({ date: '2026-01-01', dueDate: '2026-03-01' }));
  await west.close();

  expect(text).toMatch(/1 January 2026.*1 March 2026/);
});

test('when the deadline of a waiting document passes, then it counts as expired', async () => {
  const before = await outcomes('expired');
  const long = renderer.print(slow()).catch((error: unknown) => error);
  const late = renderer.print(anInvoice({ number: 'LATE' }), { deadlineMs: 300, signal: AbortSignal.timeout(15_000) });
  late.catch(() => undefined);

  await eventually(async () => (await outcomes('expired')) > before);
  await long;
});

test('when a document arrives too late to be ready in time, then it is not sent to the browser', async () => {
  const { work, seen } = aWork();
  const payload = { document: anInvoice(), accountId: randomUUID(), requestId: 'late', replyTo: 'absent' };
  for (const leftMs of [-1, 100]) {
    await work({ ...payload, deadlineAt: Date.now() + leftMs }, { ...aJob(), signal: new AbortController().signal });
  }

  expect(seen).toEqual({ prints: 0, ends: ['expired', 'expired'] });
});

test.each([
  ['a bug', new RangeError('of ours'), 500, 'Internal server error'],
  ['an outage', new Error('Chromium ended'), 503, 'The document could not be printed, try again later'],
])(
  'when %s keeps a document from being printed, then the caller gets the status of that',
  async (_what, error, status, message) => {
    const { work } = aWork({ print: () => Promise.reject(error) });
    const { redis } = renderer.queues;
    const { redisUrl, redisPrefix: prefix } = renderer.workspace;
    const replies = openReplies({ redis, redisUrl, prefix, log: testLog });
    const job = { ...aJob(), signal: new AbortController().signal };
    const deadlineAt = Date.now() + 60_000;
    const reply = replies.expect(job.jobId, { deadlineAt, signal: job.signal });

    const payload = { document: anInvoice(), accountId: randomUUID(), requestId: 'fault', replyTo: replies.address };
    await Promise.all([
      expect(reply).rejects.toMatchObject({ status, message }),
      work({ ...payload, deadlineAt }, job),
    ]);
    replies.close();
  },
);

describe('cancelling', () => {
  test('when a document waits for its picture, then the wait ends', async () => {
    const { work, seen } = aWork({ get: () => new Promise(() => undefined) });
    const caller = new AbortController();
    const document = anInvoice({ logoUrl: 'https://silent.example/logo.png' });
    const payload = { document, accountId: randomUUID(), requestId: 'left', replyTo: 'absent' };
    const working = work({ ...payload, deadlineAt: Date.now() + 600_000 }, { ...aJob(), signal: caller.signal });

    caller.abort(new Error('gone'));
    await working;

    expect(seen).toEqual({ prints: 0, ends: ['cancelled'] });
  });

  test('when no caller waits for a running document, then its page is free for the next', async () => {
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

  test('when a job of another renderer is cancelled, then nothing happens', async () => {
    await announceCancel(renderer.queues.redis, renderer.workspace.redisPrefix, randomUUID());

    expect((await renderer.print(anInvoice())).warnings).toEqual([]);
  });
});

test('when a renderer is asked to stop, then it finishes what is in flight and exits with code 0', async () => {
  const own = await spawnRenderer({ RENDER_CONCURRENCY: '1' });
  const printing = own.print(slow()).then(
    ({ bytes }) => bytes.subarray(0, 5).toString(),
    (error: unknown) => error,
  );
  await eventually(async () => (await own.queues.counts(renderDocument)).active === 1);

  expect(await own.service.stop()).toBe(0);
  expect(await printing).toBe('%PDF-');
  await own.close();
});

test('when a renderer is killed, then its browser ends with it, and the next renderer removes its folder', async () => {
  const victim = await spawnRenderer();
  const folder = readdirSync(tmpdir()).find((name) => name.startsWith(`billhook-renderer-${victim.service.pid}-`));
  expect(folder).toBeDefined();
  const group = browserOf(victim.service.pid);
  expect(group).toBeDefined();

  victim.service.kill('SIGKILL');
  await victim.service.exited;
  await eventually(() => processesIn(group as number) === 0);
  await victim.close();

  const next = await spawnRenderer();
  expect(readdirSync(tmpdir())).not.toContain(folder);
  await next.close();
});

test('when Chromium cannot be started three times, then the renderer exits with code 1 and logs why', async () => {
  const { code, output } = await runUntilExit({ CHROMIUM_PATH: '/bin/false' });

  expect(code).toBe(1);
  expect(output).toContain('could not start');
});

test('when variables are missing or wrong, then all of them are listed at once', async () => {
  const { code, output } = await runUntilExit({
    CHROMIUM_PATH: '',
    REDIS_PREFIX: 'not valid!',
    RENDER_CONCURRENCY: '0',
  });

  expect(code).toBe(78);
  for (const name of ['CHROMIUM_PATH', 'REDIS_PREFIX', 'RENDER_CONCURRENCY']) expect(output).toContain(name);
});

/** The handler of the job, in this process and with fakes around it. */
function aWork({
  get = () => Promise.reject(new Error('it has none')),
  print = () => Promise.resolve(Buffer.alloc(0)),
}: Partial<Images & RendererParts['browser']> = {}) {
  const seen = { prints: 0, ends: [] as string[] };
  const work = renderDocumentWith({
    browser: {
      print(...given) {
        seen.prints += 1;
        return print(...given);
      },
    },
    images: { get },
    markdown: { toHtml: () => Promise.reject(new Error('it has none')) },
    slowDocuments: openFairLimit(1),
    render: compileTemplate(),
    redis: renderer.queues.redis,
    prefix: renderer.workspace.redisPrefix,
    onEnd: ({ outcome }) => seen.ends.push(outcome),
  });
  return { work, seen };
}

function aJob() {
  const yieldSlot = <Result>(wait: Promise<Result>) => wait;
  return {
    jobId: randomUUID(),
    attempt: 1,
    isLastAttempt: true,
    isFirstRun: true,
    hasLostRun: false,
    yieldSlot,
    log: testLog,
  };
}

async function runUntilExit(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const child = spawn('node', ['services/renderer/main.ts'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      REDIS_URL: renderer.workspace.redisUrl,
      HEALTH_HOST: '127.0.0.1',
      ...env,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

/** The process group of the browser, which is the only child that leads a group. */
function browserOf(parent: number): number | undefined {
  return processes().find(({ pid, parentPid, group }) => parentPid === parent && pid === group)?.group;
}

function processesIn(group: number) {
  return processes().filter((one) => one.group === group && !one.isZombie).length;
}

function processes() {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,pgid=,stat='], { encoding: 'utf8' }).trim().split('\n');
  return lines.map((line) => {
    const [pid = 0, parentPid = 0, group = 0] = line.trim().split(/\s+/).map(Number);
    return { pid, parentPid, group, isZombie: line.includes('Z') };
  });
}
