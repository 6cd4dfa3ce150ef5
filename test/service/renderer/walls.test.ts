// Each barrier around a document works without the others: no scripts, a content security policy, no network.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findIsolation } from '../../../services/renderer/browser/isolation.ts';
import { openTestBrowser, type TestBrowser } from '../../support/renderer/browser.ts';
import { readPdf } from '../../support/renderer/read-pdf.ts';
import { testLog } from '../../support/workspace.ts';

let browser: TestBrowser;
beforeAll(async () => {
  browser = await openTestBrowser({ pages: 1 });
});
afterAll(() => browser.close());

async function textOf(body: string): Promise<string> {
  const html = `<!doctype html><style>@media screen{html{display:none}}</style>${body}`;
  const limits = { deadlineAt: Date.now() + 30_000, signal: new AbortController().signal };
  return (await readPdf(await browser.print(html, limits))).text;
}

test('when a document asks whether scripts would run, then they are disabled, whatever the policy says', async () => {
  expect(await textOf('<p>plain</p><noscript><p>unscripted</p></noscript>')).toMatch(/plain.*unscripted/s);
});

test('when a document has scripts in every place, then none of them has run', async () => {
  const write = "document.body.append('scr'+'ipted')";
  const text = await textOf(
    `<p>plain</p><script>${write}</script><svg onload="${write}"></svg><img src=x onerror="${write}"><details open ontoggle="${write}">`,
  );

  expect(text).toContain('plain');
  expect(text).not.toContain('scripted');
});

test('when a document has a style sheet or a frame of its own, then the policy blocks them', async () => {
  const text = await textOf(
    '<link rel=stylesheet href="data:text/css,p{display:none}"><iframe src="data:text/html,framed"></iframe><p>plain</p>',
  );

  expect(text).toContain('plain');
  expect(text).not.toContain('framed');
});

test('when the machine allows an empty network, then Chromium and all its processes are in one, not in ours', async () => {
  const { hasEmptyNetwork } = await findIsolation(process.env['TEST_CHROMIUM_PATH'] ?? '', testLog);
  if (!hasEmptyNetwork) return; // The renderer logs this at every start; there is nothing to check.
  const pids = [await browser.pid(), ...childrenOf(await browser.pid())];

  expect(pids.length).toBeGreaterThan(1);
  for (const pid of pids) expect(networkOf(pid)).not.toBe(networkOf(process.pid));
});

const networkOf = (pid: number) => readlinkSync(`/proc/${pid}/ns/net`);

/** All processes under `pid` that we may look into. */
function childrenOf(pid: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = all.map(Number).filter((other) => parentOf(other) === pid && canLook(other));
  return children.flatMap((child) => [child, ...childrenOf(child)]);
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined; // It has ended meanwhile.
  }
}

function canLook(pid: number): boolean {
  try {
    return networkOf(pid) !== '';
  } catch {
    return false; // Another user's, or ended.
  }
}
