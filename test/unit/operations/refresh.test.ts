// The script that keeps the dashboard's pages up to date, on a page with one live section.
import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { expect, test } from '@jest/globals';

const SCRIPT = readFileSync('services/operations/assets/refresh.js', 'utf8');

/** @returns what the operator sees and does; `respond` ends the fetch that is under way. */
function openPage() {
  const attributes: Record<string, string> = {};
  const shown = { textContent: '', setAttribute: (name: string, value: string) => (attributes[name] = value) };
  const classes = new Set<string>();
  let click = () => undefined as unknown;
  let tick = () => undefined as unknown;
  let answered = Promise.withResolvers<unknown>();
  const toggle = {
    hidden: true,
    textContent: '',
    addEventListener: (_name: string, act: typeof click) => (click = act),
  };
  const section = {
    id: 'queues',
    innerHTML: 'old',
    querySelectorAll: () => [],
    replaceChildren: () => (section.innerHTML = 'new'),
  };
  const elements: Record<string, object> = { refreshed: shown, 'refresh-toggle': toggle };
  runInContext(
    SCRIPT,
    createContext({
      document: {
        hidden: false,
        getElementById: (id: string) => elements[id],
        querySelector: () => null,
        querySelectorAll: () => [section],
        addEventListener: () => undefined,
        body: { classList: { toggle: (name: string, isOn: boolean) => classes[isOn ? 'add' : 'delete'](name) } },
      },
      DOMParser: class {
        parseFromString() {
          return { getElementById: () => ({ innerHTML: 'new', childNodes: [], querySelectorAll: () => [] }) };
        }
      },
      AbortSignal,
      location: { href: '/' },
      setInterval: (work: typeof tick) => (tick = work),
      fetch: () => {
        answered = Promise.withResolvers();
        return answered.promise;
      },
    }),
  );
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    text: () => shown.textContent,
    isStale: () => classes.has('stale'),
    isAnnounced: () => attributes['aria-live'] === 'polite',
    section: () => section.innerHTML,
    click: () => click(),
    tick: () => tick(),
    async respond(response?: object) {
      if (response) answered.resolve({ ok: true, status: 200, text: async () => '<html></html>', ...response });
      else answered.reject(new Error('no network'));
      await settle();
    },
  };
}

test('when the page is fetched again, then the section is replaced', async () => {
  const page = openPage();
  page.tick();
  await page.respond({});

  expect([page.section(), page.text()]).toEqual(['new', expect.stringMatching(/^Updated \d/)]);
  expect(page.isAnnounced()).toBe(false);
});

test.each([
  ['comes', {}],
  ['does not come', undefined],
])(
  'when the refresh is paused and the response to the last one %s, then the page says when it stopped',
  async (_what, response) => {
    const page = openPage();
    page.tick();
    page.click();
    const stopped = page.text();
    await page.respond(response);

    expect(stopped).toMatch(/^Stopped at \d/);
    expect([page.section(), page.text(), page.isStale()]).toEqual(['old', stopped, false]);
  },
);

test('when no response comes, then the numbers are marked as old, also for screen readers', async () => {
  const page = openPage();
  page.tick();
  await page.respond();

  expect([page.text(), page.isStale()]).toEqual([expect.stringMatching(/^No answer/), true]);
  expect(page.isAnnounced()).toBe(true);
});
