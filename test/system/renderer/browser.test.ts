// The browser when it is killed, hangs, is abandoned or recycled, while documents are printed.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { lowerSessionPriority } from '../../../services/renderer/browser/give-way.ts';
import { eventually } from '../../support/eventually.ts';
import { openTestBrowser, type TestBrowser } from '../../support/renderer/browser.ts';
import { readPdf } from '../../support/renderer/read-pdf.ts';

const page = (text: string) =>
  `<!doctype html><title>${text}</title><style>@media screen{html{display:none}}</style><p>${text}</p>`;
/** Layout of this takes minutes. */
const POISON = `${page('poison')}${'<table><tr><td>'.repeat(400)}${'<div style="columns:3">'.repeat(100)}${'<span>a </span>'.repeat(300_000)}`;

let browser: TestBrowser;
beforeAll(async () => {
  browser = await openTestBrowser({ pages: 3 });
});
afterAll(() => browser.close());

const limits = (deadlineMs: number, signal = new AbortController().signal) => ({
  deadlineAt: Date.now() + deadlineMs,
  signal,
});
const print = (text: string) => browser.print(page(text), limits(20_000));
const textOf = async (pdf: Buffer) => (await readPdf(pdf)).text;
function killPages(browserPid: number) {
  for (const pid of processesOf(browserPid, '--type=renderer')) process.kill(pid, 'SIGKILL');
}

describe('when Chromium is killed', () => {
  test('while it prints documents, then each is printed by the next instance', async () => {
    const texts = Array.from({ length: 30 }, (_none, index) => `document ${index}`);
    const printing = texts.map(print);
    await printing[0];
    process.kill(await browser.pid(), 'SIGKILL');

    const printed = await Promise.all(printing);

    expect(await Promise.all(printed.map(textOf))).toEqual(texts);
    expect(browser.replaced).toContain('gone');
  });

  test('while no document is printed, then it is restarted for the next one', async () => {
    const before = await browser.pid();
    process.kill(before, 'SIGKILL');
    await eventually(async () => (await browser.pid()) !== before);

    expect(await textOf(await print('after'))).toBe('after');
    await browser.check();
  });

  test('or hangs, then its documents are printed by the next instance', async () => {
    const before = await browser.pid();
    process.kill(before, 'SIGSTOP');
    const printing = [browser.print(page('first'), limits(60_000)), browser.print(page('second'), limits(60_000))];

    expect(await Promise.all((await Promise.all(printing)).map(textOf))).toEqual(['first', 'second']);
    expect(await browser.pid()).not.toBe(before);
  });

  test('in one page only, then the others continue and the document is printed again', async () => {
    const printing = Array.from({ length: 12 }, (_none, index) => print(`page ${index}`));
    await printing[0];
    const [victim] = processesOf(await browser.pid(), '--type=renderer').toReversed();
    process.kill(victim as number, 'SIGKILL');

    const printed = await Promise.all(printing);

    expect(await Promise.all(printed.map(textOf))).toEqual(printing.map((_none, index) => `page ${index}`));
  });
});

test.each([1, 3])(
  'when all of %i pages are killed while no document is printed, then the next one is printed on a new page at once',
  async (pages) => {
    const several = await openTestBrowser({ pages });
    killPages(await several.pid());
    await pause(300); // Until the browser has reported it.

    const printed = await several.print(page('next'), limits(10_000)).then(textOf, String);
    await several.close();

    expect(printed).toBe('next');
  },
);

describe('when a page is killed, and the page that replaces it', () => {
  async function openThen(onOpening: (pid: number) => Promise<void>, deadlineMs = 60_000) {
    let before: number | undefined;
    const single: TestBrowser = await openTestBrowser({
      pages: 1,
      pageLimitMs: 3_000,
      // Not when the next browser is started.
      onVerify: async () => (before && single.replaced.length === 0 ? onOpening(before) : undefined),
    });
    before = await single.pid();
    killPages(before);
    expect(await textOf(await single.print(page('next'), limits(deadlineMs)))).toBe('next');
    expect(await single.pid()).not.toBe(before);
    await single.close();
  }

  test('never becomes ready, then another browser prints the document', () =>
    openThen(() => new Promise(() => undefined), 28_000)); // After half a minute the old one would be abandoned anyway.

  test('is killed, too, then another browser prints the document', () => openThen(async (pid) => killPages(pid)));
});

describe('when a document exceeds its limit', () => {
  test('of time, then it is rejected permanently, and the next is printed', async () => {
    const impatient = await openTestBrowser({ pages: 1, printLimitMs: 1_000 });
    const poisoned = await impatient.print(POISON, limits(30_000)).catch((error: unknown) => error);
    const next = await impatient.print(page('next'), limits(30_000)).then(textOf, String);
    await impatient.close();

    expect(poisoned).toMatchObject({ status: 422, message: 'The document takes too long to print' });
    expect(next).toBe('next');
  });

  test('of memory, then it alone is rejected, and a document whose page crashes right after it is printed again', async () => {
    const small = await openTestBrowser({ pages: 1, pageMegabytes: 100, printLimitMs: 60_000 });
    const large = `<!doctype html>${'<p><b>a</b> <i>b</i></p>'.repeat(100_000)}`;
    const rejected = await small.print(large, limits(60_000)).catch((error: unknown) => error);
    const printing = Array.from({ length: 12 }, (_none, index) => small.print(page(`next ${index}`), limits(30_000)));
    await printing[0];
    killPages(await small.pid());
    const next = await Promise.allSettled(printing);
    await small.close();

    expect(rejected).toMatchObject({ status: 422, message: 'The document needs too much memory to print' });
    expect(next.map(({ status }) => status)).toEqual(printing.map(() => 'fulfilled'));
  });
});

describe('when a document cannot be printed in time', () => {
  test('then it fails at its deadline, other documents are printed, and its page is not used again', async () => {
    const poisoned = browser.print(POISON, limits(1_500)).catch((error: unknown) => error);
    const others = await Promise.all(Array.from({ length: 20 }, (_none, index) => print(`neighbour ${index}`)));

    expect(await poisoned).toMatchObject({ status: 504 });
    expect(await Promise.all(others.map(textOf))).toEqual(others.map((_none, index) => `neighbour ${index}`));
    // A new page takes its place: three at once, as before.
    expect(await Promise.all(['a', 'b', 'c'].map(print))).toHaveLength(3);
  });

  test('and its caller disconnects, then the wait ends at once with the reason of the caller', async () => {
    const caller = new AbortController();
    const reason = new Error('gone');
    const printing = browser.print(POISON, limits(20_000, caller.signal)).catch((error: unknown) => error);
    setTimeout(() => caller.abort(reason), 50);

    expect(await printing).toBe(reason);
    expect(await Promise.all(['a', 'b', 'c'].map(print))).toHaveLength(3);
  });
});

test('when many documents share the pages, then none contains a word of another', async () => {
  const tokens = Array.from({ length: 60 }, () => randomBytes(12).toString('hex'));
  const sizes = [1, 40, 3, 400];
  const printed = await Promise.all(
    tokens.map((token, index) => browser.print(page(`${token} `.repeat(sizes[index % 4] ?? 1)), limits(50_000))),
  );

  for (const [index, pdf] of printed.entries()) {
    const words = new Set((await textOf(pdf)).split(' '));
    expect([...words]).toEqual([tokens[index]]);
  }
});

test('when a document sets styles or a base URL, then the next document is not affected', async () => {
  await browser.print(
    '<!doctype html><base href="http://127.0.0.1/"><style>p{display:none}</style><p>hidden</p><b>shown</b>',
    limits(20_000),
  );

  expect(await textOf(await print('visible'))).toBe('visible');
});

describe('when a browser is recycled', () => {
  test('by its number of documents, then it is replaced without losing one', async () => {
    const recycled = await openTestBrowser({ pages: 2, recycle: { prints: 20 } });
    const printed: string[] = [];
    while (!recycled.replaced.includes('prints')) {
      printed.push(await textOf(await recycled.print(page(`document ${printed.length}`), limits(30_000))));
    }
    await recycled.close();

    expect(printed).toEqual(printed.map((_text, index) => `document ${index}`));
    expect(recycled.replaced).not.toContain('gone');
  });

  test('by its memory, then it is replaced while no document is printed', async () => {
    const recycled = await openTestBrowser({ pages: 1, recycle: { memoryMegabytes: 1 } });
    await eventually(() => recycled.replaced.includes('memory'));
    await recycled.close();
  });
});

describe('while a browser is being recycled', () => {
  let onVerify: () => Promise<void>;
  let recycled: TestBrowser;
  const printOn = (text: string) => recycled.print(page(text), limits(30_000));
  beforeEach(async () => {
    onVerify = async () => undefined;
    recycled = await openTestBrowser({ pages: 1, recycle: { prints: 5 }, onVerify: () => onVerify() });
  });
  afterEach(() => recycled.close());

  async function replaceAnd(meanwhile: () => Promise<void>) {
    const isVerified = Promise.withResolvers<void>();
    onVerify = async () => {
      onVerify = async () => undefined;
      await meanwhile().then(isVerified.resolve, isVerified.reject);
    };
    for (let count = 0; count < 5; count += 1) await printOn(`document ${count}`);
    await isVerified.promise;
  }

  test('when it dies before its successor is ready, then one browser is left', async () => {
    const pid = await recycled.pid();
    await replaceAnd(async () => {
      process.kill(-pid, 'SIGKILL');
      await eventually(() => recycled.replaced.includes('gone'));
    });
    // Long enough for another browser to start.
    for (const text of ['a', 'b', 'c', 'd']) expect(await textOf(await printOn(text))).toBe(text);

    await eventually(() => groupsWith(recycled.folder).length === 1);
    expect(recycled.replaced).toEqual(['gone']);
  });

  test('when it is closed, then no browser is left', async () => {
    let closed: Promise<void> | undefined;
    await replaceAnd(async () => {
      closed = recycled.close();
    });
    await closed;

    await eventually(() => groupsWith(recycled.folder).length === 0);
  });
});

test('when a page prints without its fonts, then the browser does not count as started', async () => {
  const broken = openTestBrowser({ pages: 1, fonts: 'none' });

  await expect(broken).rejects.toThrow(/without fonts/);
});

test('when the browser is closed, then no process and no folder is left', async () => {
  const closing = await openTestBrowser({ pages: 2 });
  const pid = await closing.pid();
  expect(processesOf(pid, 'chrom').length).toBeGreaterThan(3);

  await closing.close();

  await eventually(() => processesOf(pid, 'chrom').length === 0);
  expect(readdirSync(closing.folder).filter((name) => name.startsWith('profile'))).toEqual([]);
});

test('when the browser is started, then its processes have a lower priority than ours', async () => {
  const lowered = await openTestBrowser({ pages: 1, onLaunched: lowerSessionPriority });
  const pid = await lowered.pid();
  const weighsSessions = existsSync('/proc/self/autogroup');

  const priorities = processesOf(pid, 'chrom').map((one) => getPriority(one));
  const ofSession = weighsSessions ? readFileSync(`/proc/${pid}/autogroup`, 'utf8') : '';
  await lowered.close();

  // Not of all processes: as root, Chromium raises the priority of some again.
  expect(priorities).toContain(Math.min(19, getPriority() + 5));
  if (weighsSessions) expect(ofSession).toMatch(/nice 5$/m);
});

test('when the browser is closed while documents wait, then they fail at once, and the renderer does not spin', async () => {
  const closing = await openTestBrowser({ pages: 1 });
  const printing = Array.from({ length: 5 }, (_none, index) => closing.print(page(`${index}`), limits(20_000)));
  const ended = Promise.allSettled(printing);
  await closing.close();

  const late = closing.print(page('late'), limits(20_000));

  await expect(late).rejects.toThrow('The browser is closed');
  // The first may be on the page already.
  for (const result of (await ended).slice(1)) {
    expect(result).toEqual({ status: 'rejected', reason: new Error('The browser is closed') });
  }
});

/** Groups of processes with `part` in a command line. */
function groupsWith(part: string): string[] {
  const lines = execFileSync('ps', ['-eo', 'pgid=,stat=,args=', '-ww'], { encoding: 'utf8' }).split('\n');
  const groups = lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, state, ...rest]) => !state?.startsWith('Z') && rest.join(' ').includes(part));
  return [...new Set(groups.map(([group = '']) => group))];
}

/** Ids of the processes in the group whose command line holds `part`. */
function processesOf(group: number, part: string): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,pgid=,stat=,args=', '-ww'], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const [pid, processGroup, state = ''] = line.trim().split(/\s+/);
    return Number(processGroup) === group && !state.startsWith('Z') && line.includes(part) ? [Number(pid)] : [];
  });
}
