// Checks a page in a browser for people who cannot see it well, have no mouse, or enlarge it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'puppeteer-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** All rules of WCAG 2.2, levels A and AA, that a program can check. */
const RULES = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  rules: { 'target-size': { enabled: true } },
  resultTypes: ['violations'],
};
/** The distances of WCAG 1.4.12, which a reader may set without losing anything. */
const WIDE_TEXT =
  '* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }';
/** A page with more stops than these has a trap. */
const STOPS_MAX = 200;

/** Returns what axe finds against WCAG 2.2 A and AA in the page as it is shown, each with the elements it is about. */
export async function accessFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(`axe.run(document, ${JSON.stringify(RULES)}).then(({ violations }) =>
    violations.map(({ id, help, nodes }) => [id, help, ...nodes.slice(0, 5).map(({ html, any }) => html.slice(0, 150) + ' ' + (any[0]?.message ?? ''))].join('\\n  ')))`) as Promise<
    string[]
  >;
}

/** Returns the elements that stick out of the window, as they are and with the widest text of WCAG 1.4.12. */
export async function overhanging(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const { documentElement: root } = document;
    const sticksOut = (one) => one.getBoundingClientRect().right > root.clientWidth || one.clientWidth < one.scrollWidth;
    // A page from right to left does not scroll to what sticks out of its right edge: that is cut off.
    const isCut = (one) => {
      const { overflowX, display } = getComputedStyle(one);
      return overflowX === 'visible' && display !== 'inline' && !one.closest('table') && one.clientWidth < one.scrollWidth;
    };
    const isScrolled = () => root.scrollWidth !== root.clientWidth;
    const found = () => [...document.querySelectorAll('body *')]
      .filter((one) => isScrolled() ? sticksOut(one) : root.dir === 'rtl' && isCut(one))
      .map((one) => one.cloneNode(one.children.length === 0).outerHTML.slice(0, 150));
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(${JSON.stringify(WIDE_TEXT)});
    const plain = found();
    document.adoptedStyleSheets = [sheet];
    const wide = found();
    document.adoptedStyleSheets = [];
    return [...new Set([...plain, ...wide])];
  })()`) as Promise<string[]>;
}

/**
 * Goes through the page with the Tab key alone.
 * @returns the names of the stops in their order, and those that cannot be seen: without an outline, or under something else.
 */
export async function tabThrough(page: Page): Promise<{ stops: string[]; unseen: string[] }> {
  // The next stop after the body is the first one, wherever the focus was before.
  await page.evaluate("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')");
  const stops: string[] = [];
  const unseen: string[] = [];
  for (let count = 0; count < STOPS_MAX; count += 1) {
    await page.keyboard.press('Tab');
    const stop = (await page.evaluate(FOCUSED)) as { name: string; isSeen: boolean } | null;
    if (!stop) return { stops, unseen };
    stops.push(stop.name);
    if (!stop.isSeen) unseen.push(stop.name);
  }
  throw new Error('the Tab key does not leave the page');
}

const FOCUSED = `(() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  const { left, top, width, height } = one.getBoundingClientRect();
  const at = (x, y) => document.elementFromPoint(x, y);
  const points = [[left + width / 2, top + height / 2], [left + 2, top + 2]];
  const isOnTop = points.some(([x, y]) => one.contains(at(x, y)) || at(x, y)?.contains(one) || at(x, y)?.closest('label')?.control === one);
  const name = one.getAttribute('aria-label') ?? (one.labels?.[0] ?? one).innerText?.trim().split('\\n')[0];
  return { name: one.localName + ' ' + name, isSeen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && isOnTop };
})()`;
