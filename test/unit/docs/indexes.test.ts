// The index pages of docs/ and docs/adr/ list every page, each under its own title.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const pagesIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .toSorted();

const titleOf = (file: string) => /^# (?:\d+\. )?(.+)$/m.exec(readFileSync(file, 'utf8'))?.[1];

/** The links of an index to pages of its own folder, with their texts. */
const linksOf = (folder: string) => {
  const links = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/\[([^\]]+)\]\(([\w-]+\.md)\)/g)];
  return links.map(([, text, page]) => [page, text]).toSorted();
};

describe.each(['docs', 'docs/adr'])('%s', (folder) => {
  test('when a page is added or its title changes, then the index has to say so', () => {
    const pages = pagesIn(folder).map((page) => [page, titleOf(join(folder, page))]);

    expect(pages.length).toBeGreaterThan(5);
    expect(linksOf(folder)).toEqual(pages);
  });
});

test('when a decision has a number, then no other one has it, and none is left out', () => {
  const numbers = pagesIn('docs/adr').map((page) => Number(page.slice(0, 4)));

  expect(numbers).toEqual(numbers.map((_number, index) => index + 1));
  for (const page of pagesIn('docs/adr')) {
    expect([page, readFileSync(join('docs/adr', page), 'utf8')]).toEqual([
      page,
      expect.stringMatching(new RegExp(`^# ${Number(page.slice(0, 4))}\\. `)),
    ]);
  }
});

test('when a contributor looks for the usual files, then they are there', () => {
  const missing = [
    'SECURITY.md',
    'CONTRIBUTING.md',
    'LICENSE',
    '.nvmrc',
    '.devcontainer/devcontainer.json',
    '.github/CODEOWNERS',
    '.github/pull_request_template.md',
    '.github/renovate.json',
    '.github/workflows/checks.yml',
    '.githooks/pre-push',
  ].filter((file) => !existsSync(file));

  expect(missing).toEqual([]);
});

test('when the workflow runs a script, then package.json has it', () => {
  const scripts = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).scripts);
  const run = [...readFileSync('.github/workflows/checks.yml', 'utf8').matchAll(/npm run ([\w:]+)/g)].map(
    ([, name]) => name,
  );

  expect(run.length).toBeGreaterThan(3);
  expect(run.filter((name) => !scripts.includes(`${name}`))).toEqual([]);
});
