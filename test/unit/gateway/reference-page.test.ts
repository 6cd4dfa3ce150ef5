// The guides and the script that the gateway serves beside the OpenAPI document.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { guideNames, guidePage, guideText } from '../../../services/gateway/reference/pages/guides.ts';
import { llmsText } from '../../../services/gateway/reference/pages/llms.ts';
import { bundle, readBundle } from '../../../services/gateway/reference/scalar/bundle.ts';

const idsOf = (page: string) => [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

describe.each(guideNames)('the guide %s', (name) => {
  const page = guidePage(name);

  test('when it is a page, then every heading is there, and nothing can run or load', () => {
    const headings = guideText(name)
      .replaceAll(/^```.*?^```/gms, '')
      .match(/^#{1,4} /gm);
    expect(idsOf(page)).toHaveLength(headings?.length ?? 0);
    expect(page).not.toMatch(/<script|javascript:|\son\w+=|<img|<iframe|\ssrc=/i);
  });

  test('when it links, then to another site, or to a page and a heading that the gateway serves', () => {
    const main = page.slice(page.indexOf('<main>'));
    const links = [...main.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);
    const isServed = (href: string) => {
      const found = /^(?:\/docs\/guides\/([\w-]+))?(?:#(.+))?$/.exec(href);
      const other = found && guideNames.find((one) => one === (found[1] ?? name));
      return other && (found[2] === undefined || idsOf(guidePage(other)).includes(found[2]));
    };
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((href) => !href.startsWith('https://') && !isServed(href))).toEqual([]);
  });
});

test('when an image is built, then exactly the served guides reach the builder', () => {
  const sent = [...readFileSync('.dockerignore', 'utf8').matchAll(/^!docs\/(.+)\.md$/gm)].map(([, name]) => name);
  expect(sent.toSorted()).toEqual(guideNames.toSorted());
});

test('when llms.txt is read, then it has one title, one summary, and links to the document and to every guide as Markdown', () => {
  const text = llmsText();
  expect(text).toMatch(/^# Billhook\n\n> [^\n]+\n\n/);
  const links = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\): .+$/gm)].map(([, href]) => href);
  expect(links).toEqual(['/openapi.json', ...guideNames.map((name) => `/docs/guides/${name}.md`)]);
});

test('when the copy of the viewer is read, then it is the script of the version that the manifest names', () => {
  const script = readBundle().plain();
  expect(hash('sha256', script, 'hex')).toBe(bundle.sha256);
  expect(String(script)).toContain(`${bundle.package}@`);
  expect(String(script)).toContain(bundle.version);
});
