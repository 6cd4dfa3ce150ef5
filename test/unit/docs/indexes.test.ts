// The index pages of docs/ and docs/adr/ list every page.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { DECISIONS, decisionsPage } from './decisions-page.ts';

const pagesIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .toSorted();

/** The pages of its own folder that an index links to. */
const linksOf = (folder: string) => {
  const links = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/\]\(([\w-]+\.md)\)/g)];
  return links.map(([, page]) => page).toSorted();
};

test('when a page is added to docs/, then the index lists it', () => {
  expect(pagesIn('docs').length).toBeGreaterThan(5);
  expect(linksOf('docs')).toEqual(pagesIn('docs'));
});

test('when a decision is added or its title changes, then "npm run docs" was not forgotten', () => {
  expect(readFileSync(DECISIONS, 'utf8')).toBe(decisionsPage());
  expect(linksOf('docs/adr')).toEqual(pagesIn('docs/adr'));
});

test('when decisions are counted, then each has the number of its file', () => {
  const titles = pagesIn('docs/adr').map((page) => [
    page,
    readFileSync(join('docs/adr', page), 'utf8').split('\n', 1)[0],
  ]);

  expect(titles.filter(([page, title]) => !title?.startsWith(`# ${Number(page?.slice(0, 4))}. `))).toEqual([]);
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
