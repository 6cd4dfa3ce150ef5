// A page of a real browser that collects the errors of what it shows.
import puppeteer, { type Browser, type Page } from 'puppeteer-core';

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
  });
  const page = await chromium.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  return { chromium, page, problems };
}
