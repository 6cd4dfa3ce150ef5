// The renderer's browser in this process, with a folder of its own.
import { rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openBrowser, type PrintingBrowser } from '../../../services/renderer/browser/browser.ts';
import type { RecycleLimits, ReplaceReason } from '../../../services/renderer/browser/instance-keeper.ts';
import { findIsolation, type Isolation } from '../../../services/renderer/browser/isolation.ts';
import { prepareFonts } from '../../../services/renderer/fonts/fonts.ts';
import { openTempDir } from '../../../services/renderer/temp-dir.ts';
import { testLog } from '../workspace.ts';

export interface TestBrowser extends PrintingBrowser {
  folder: string;
  isolation: Isolation;
  fontsFile: string;
  /** Why a browser was replaced, each time. */
  replaced: ReplaceReason[];
}

const NEVER: RecycleLimits = { prints: 1e9, ageMs: 1e9, memoryMegabytes: 1e9 };

export async function openTestBrowser(options: {
  pages: number;
  recycle?: Partial<RecycleLimits>;
  fonts?: 'bundled' | 'none';
  /** Awaited whenever a page is verified. */
  onVerify?: () => Promise<void>;
  pageLimitMs?: number;
  pageMegabytes?: number;
  printLimitMs?: number;
  onLaunched?: (pid: number) => Promise<void>;
}): Promise<TestBrowser> {
  const path = process.env['TEST_CHROMIUM_PATH'] ?? '';
  const { folder } = await openTempDir();
  const isolation = await findIsolation(path, testLog);
  const replaced: ReplaceReason[] = [];
  const fontsFile = options.fonts === 'none' ? await withoutFonts(folder) : await prepareFonts(folder, isolation);
  const browser = await openBrowser({
    path,
    isolation,
    folder,
    fontsFile,
    pages: options.pages,
    pageMegabytes: options.pageMegabytes ?? 1e9,
    ...(options.pageLimitMs ? { pageLimitMs: options.pageLimitMs } : {}),
    ...(options.onLaunched ? { onLaunched: options.onLaunched } : {}),
    ...(options.printLimitMs ? { printLimitMs: options.printLimitMs } : {}),
    async verifyPage(page) {
      await options.onVerify?.();
      await page.print('<!doctype html><p>proof</p>', {});
    },
    recycle: { ...NEVER, ...options.recycle },
    log: testLog,
    onReplaced: (reason) => replaced.push(reason),
    onBroken: (error) => {
      throw error;
    },
  });
  return {
    ...browser,
    folder,
    isolation,
    fontsFile,
    replaced,
    async close() {
      await browser.close();
      // The folder stays until the process ends, for tests that look at what is left in it.
      leave(folder);
    },
  };
}

const left: string[] = [];

/** One listener for all folders: Node warns of more than ten. */
function leave(folder: string): void {
  if (left.length === 0)
    process.once('exit', () => {
      for (const path of left) rmSync(path, { recursive: true, force: true });
    });
  left.push(folder);
}

async function withoutFonts(folder: string): Promise<string> {
  const path = join(folder, 'fonts.conf');
  await mkdir(join(folder, 'faces'));
  await writeFile(path, `<?xml version="1.0"?><fontconfig><dir>${join(folder, 'faces')}</dir></fontconfig>`);
  return path;
}
