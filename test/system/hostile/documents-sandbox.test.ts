// The browser's sandbox, checked on the running processes: their users, environment and network.
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findIsolation } from '../../../services/renderer/browser/isolation.ts';
import { eventually } from '../../support/eventually.ts';
import { openTestBrowser } from '../../support/renderer/browser.ts';
import { anInvoice } from '../../support/renderer/documents.ts';
import { readPdf } from '../../support/renderer/read-pdf.ts';
import { type SpawnedRenderer, spawnRenderer } from '../../support/renderer/renderer.ts';
import { testLog } from '../../support/workspace.ts';

const SECRET = 'only-the-renderer-may-know-this';
let renderer: SpawnedRenderer;
beforeAll(async () => {
  renderer = await spawnRenderer({ CANARY_SECRET: SECRET, LOG_LEVEL: 'info' });
  const png = readFileSync(new URL('../../../docs/pictures/documents.png', import.meta.url));
  // Starts the image decoder, too.
  await renderer.print(anInvoice({ logoUrl: `data:image/png;base64,${png.toString('base64')}` }));
});
afterAll(() => renderer.close());

interface Process {
  pid: number;
  args: string;
}

function processes(): (Process & { parent: number })[] {
  return execFileSync('ps', ['-eo', 'pid=,ppid=,args=', '-ww'], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => {
      const [, pid, parent, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      return pid ? [{ pid: Number(pid), parent: Number(parent), args: args ?? '' }] : [];
    });
}

/** All processes that the renderer started, directly or not. */
function descendants(): Process[] {
  const all = processes();
  const found = [renderer.service.pid];
  for (const pid of found) found.push(...all.filter(({ parent }) => parent === pid).map((child) => child.pid));
  // The last is `ps` itself.
  return all.filter(({ pid, args }) => pid !== renderer.service.pid && found.includes(pid) && !args.startsWith('ps '));
}

const isLinux = process.platform === 'linux';
const onLinux = isLinux ? test : test.skip;
// The isolation that this machine allows. The first test compares it with what the renderer has found.
const isolation = await findIsolation(process.env['TEST_CHROMIUM_PATH'] ?? '', testLog);
const inSandbox = isLinux && isolation.hasSandbox ? test : test.skip;
const inEmptyNetwork = isLinux && isolation.hasEmptyNetwork ? test : test.skip;
const pagesOf = () => descendants().filter(({ args }) => args.includes('--type=renderer'));
const statusOf = ({ pid }: Process, name: string) =>
  new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
const networkOf = (pid: number | 'self') => readlinkSync(`/proc/${pid}/ns/net`);

test('when it starts, then it logs which layers are active, and warns of each that is not', () => {
  const { hasSandbox, hasEmptyNetwork } = isolation;
  const output = renderer.service.output();
  const line = output.split('\n').find((text) => text.includes('isolation of chromium'));

  expect(JSON.parse(line ?? '{}')).toMatchObject({ hasSandbox, hasEmptyNetwork });
  expect(/WITHOUT its sandbox/.test(output)).toBe(!hasSandbox);
  expect(/shares our network namespace/.test(output)).toBe(!hasEmptyNetwork);
});

inSandbox(
  'when the sandbox is active, then pages filter their system calls, are not root and cannot gain privileges',
  () => {
    const pages = pagesOf();
    expect(pages).not.toEqual([]);
    for (const page of pages) {
      expect([statusOf(page, 'Seccomp'), statusOf(page, 'NoNewPrivs')]).toEqual(['2', '1']);
      expect(statusOf(page, 'Uid')).not.toMatch(/^0\b/);
      expect(statusOf(page, 'CapEff')).toMatch(/^0+$/);
    }
    expect(descendants().filter(({ args }) => args.includes('--no-sandbox'))).toEqual([]);
  },
);

inEmptyNetwork('when the network namespace is empty, then no process of the browser and no decoder is in ours', () => {
  const ours = networkOf('self');
  expect(networkOf(renderer.service.pid)).toBe(ours);
  const locked = descendants().filter(({ args }) => /chrom|decode-image/.test(args));
  expect(locked.length).toBeGreaterThan(3);
  expect(locked.filter(({ pid }) => networkOf(pid) === ours)).toEqual([]);
});

inEmptyNetwork(
  'when the network of the browser is read, then it has only a loopback interface that is down, no route and no socket',
  () => {
    const browser = descendants().find(({ args }) => /chrom/.test(args) && !args.includes('--type='));
    const seen = (file: string) =>
      readFileSync(`/proc/${browser?.pid}/net/${file}`, 'utf8').trim().split('\n').slice(1);

    expect(seen('route')).toEqual([]);
    expect(seen('tcp')).toEqual([]);
    expect(
      readFileSync(`/proc/${browser?.pid}/net/dev`, 'utf8')
        .match(/^\s*(\w+):/gm)
        ?.map((name) => name.trim()),
    ).toEqual(['lo:']);
    // Loopback is down: the browser cannot reach Redis or MongoDB on this machine either.
    expect(seen('if_inet6')).toEqual([]);
  },
);

onLinux(
  'when the environment of the browser and its decoder is read, then it has no secret and no address of a store',
  () => {
    const locked = descendants().filter(({ args }) => /chrom|decode-image/.test(args));
    expect(locked.length).toBeGreaterThan(3);
    for (const { pid, args } of locked) {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      expect(environment).not.toMatch(/CANARY|REDIS|MONGO|SECRET|OUTBOUND|KEY/);
      expect(environment.split('\0').filter((text) => text.includes(SECRET) || /redis:|mongodb:/.test(text))).toEqual(
        [],
      );
      expect(args).not.toMatch(/redis:|mongodb:/);
    }
  },
);

onLinux('when the browser is started, then it opens no debugging port: it is controlled through a pipe', () => {
  const commands = descendants().filter(({ args }) => /chrom/.test(args) && !args.includes('--type='));
  expect(commands).not.toEqual([]);
  for (const { args } of commands) {
    expect(args).toContain('--remote-debugging-pipe');
    expect(args).not.toContain('--remote-debugging-port');
    expect(args).toContain('--proxy-server=http://127.0.0.1:9');
  }
});

test('when a document tries to navigate its page, then the page stays, and its policy applies to the next document', async () => {
  const browser = await openTestBrowser({ pages: 1 });
  const within = () => ({ deadlineAt: Date.now() + 30_000, signal: new AbortController().signal });
  const print = async (inside: string) =>
    readPdf(await browser.print(`<!doctype html>${inside}<p>plain</p>`, within()));
  const leaving =
    '<meta http-equiv=refresh content="0;url=http://127.0.0.1:9/"><meta http-equiv=refresh content="0;url=about:blank">';
  await print(leaving);
  await eventually(async () => (await print(leaving)).text.includes('plain'));
  // On a page without its policy the stylesheet would hide the text, and the frame would be printed.
  const { text } = await print(
    '<link rel=stylesheet href="data:text/css,p{display:none}"><iframe src="data:text/html,framed"></iframe>',
  );
  await browser.close();

  expect(text).toBe('plain');
});

describe('versions with known vulnerabilities fixed', () => {
  const lock = JSON.parse(readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8')) as {
    packages: Record<string, { version: string }>;
  };
  test.each([
    ['sharp', '0.32.6', 'libwebp, CVE-2023-4863'],
    ['ejs', '3.1.10', 'prototype pollution'],
    ['marked', '4.0.10', 'slow regular expressions'],
    ['sanitize-html', '2.12.1', 'files of the server'],
    ['express', '5.0.0', 'redirects and routes'],
    ['qs', '6.14.1', 'unbounded arrays'],
    ['mongoose', '8.9.5', 'injection through $where'],
    ['bullmq', '6.2.0', 'handling of stalled jobs'],
    ['axios', '1.13.5', 'requests to other hosts, and unbounded responses'],
    ['ipaddr.js', '2.0.0', 'ranges of addresses'],
    ['undici', '6.21.2', 'responses of malicious servers'],
  ])('when %s is installed, then it is at least %s (%s)', (name, floor) => {
    const installed = Object.entries(lock.packages).filter(([path]) => path === `node_modules/${name}`);
    for (const [, { version }] of installed) expect(compare(version, floor)).toBeGreaterThanOrEqual(0);
    if (name !== 'undici') expect(installed).toHaveLength(1);
  });

  test('when Chromium prints, then its version has the fixed image decoder', async () => {
    const version = execFileSync(process.env['TEST_CHROMIUM_PATH'] ?? '', ['--version'], { encoding: 'utf8' });
    expect(Number(/(\d+)\.\d+\.\d+\.\d+/.exec(version)?.[1])).toBeGreaterThanOrEqual(140);
  });
});

function compare(one: string, other: string): number {
  const [left, right] = [one, other].map((text) => text.split('.').map((part) => Number.parseInt(part, 10)));
  const at = [0, 1, 2].find((index) => left?.[index] !== right?.[index]);
  return at === undefined ? 0 : (left?.[at] ?? 0) - (right?.[at] ?? 0);
}
