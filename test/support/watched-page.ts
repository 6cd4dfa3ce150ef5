// A page of a real browser that collects the errors of what it shows.
import puppeteer, { type Browser, type Page } from 'puppeteer-core';

/** Only ends a hang. The defaults are 30 s, which a start of the browser may take on a busy machine. */
const LIMIT_MS = 120_000;

export interface WatchedPage {
  chromium: Browser;
  page: Page;
  /** Errors of the console and of scripts, in their order. A test empties it before it looks. */
  problems: string[];
}

export async function openWatchedPage(chromiumPath: string): Promise<WatchedPage> {
  const chromium = await puppeteer.launch({
    executablePath: chromiumPath,
    headless: 'shell',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    timeout: LIMIT_MS,
  });
  const page = await chromium.newPage();
  page.setDefaultTimeout(LIMIT_MS);
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  return { chromium, page, problems };
}
