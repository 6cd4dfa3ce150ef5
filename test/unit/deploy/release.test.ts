// When a state can be released, and what a release does.
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { type Facts, notesOf, problemsOf, stepsOf } from '../../../deploy/release/plan.ts';

const changelog = `# Changelog

## Unreleased

## 0.2.0 - 2026-12-24

### Added
- Invoices from time.

## 0.1.0 - 2026-11-30
- The first release.
`;
const releasable: Facts = {
  branch: 'main',
  isClean: true,
  hasIdentity: true,
  version: '0.2.0',
  changelog,
  tags: ['v0.1.0'],
  hasDocker: true,
  hasCompose: true,
  hasPython: true,
};

test('when main is clean and the changelog has the version, then it can be released', () => {
  expect(problemsOf(releasable)).toEqual([]);
});

test.each([
  ['another branch', { branch: 'feature' }, /branch is feature/],
  ['a change that is not committed', { isClean: false }, /not committed/],
  ['no name for the tag', { hasIdentity: false }, /set user\.name and user\.email/],
  ['Docker without its compose plugin', { hasCompose: false }, /no compose plugin/],
  ['no Python for the package', { hasPython: false }, /needs python3, 3\.11/],
  ['an invalid version', { version: '1.2', changelog: changelog.replace('0.2.0', '1.2') }, /no semantic version: 1\.2/],
  ['a version that was released', { tags: ['v0.1.0', 'v0.2.0'] }, /v0\.2\.0 exists/],
  ['a changelog without the version', { version: '0.3.0' }, /no section "## 0\.3\.0/],
  [
    'a version without a day',
    { changelog: changelog.replace('0.2.0 - 2026-12-24', '0.2.0') },
    /no section "## 0\.2\.0/,
  ],
  [
    'a version without an entry',
    { changelog: changelog.replace('- Invoices from time.', '') },
    /no section "## 0\.2\.0/,
  ],
  [
    'entries that are not released',
    { changelog: changelog.replace('## 0.2.0', '- Late.\n\n## 0.2.0') },
    /under "## Unreleased"/,
  ],
])('when there is %s, then it is the one problem that is named', (_name, change, problem) => {
  expect(problemsOf({ ...releasable, ...change })).toEqual([expect.stringMatching(problem)]);
});

test('when there is no Docker at all, then its plugin is not asked for', () => {
  expect(problemsOf({ ...releasable, hasDocker: false, hasCompose: false })).toEqual([]);
});

test('when several things are wrong, then all are named at once', () => {
  expect(problemsOf({ ...releasable, branch: 'feature', isClean: false, tags: ['v0.2.0'] })).toHaveLength(3);
});

test('when notes are read, then they are those of the version alone', () => {
  expect(notesOf(changelog, '0.2.0')).toBe('### Added\n- Invoices from time.');
  expect(notesOf(changelog, '0.1.0')).toBe('- The first release.');
  expect(notesOf(changelog, '0.1')).toBeUndefined();
});

test('when Docker is missing, then archives are made without images; the tests come first in any case', () => {
  const names = (hasDocker: boolean) => stepsOf({ ...releasable, hasDocker }, '/out').map(({ name }) => name);

  const always = [
    'types, lint and tests',
    'system tests',
    'release tests',
    'source archive',
    'npm package',
    'Helm chart',
    'PyPI package',
  ];
  expect(names(false)).toEqual(always);
  expect(names(true)).toEqual([...always, 'images', 'archive of the images', 'compression of the archive']);
});

test('when images are saved, then all that the compose file builds are', () => {
  const built = readFileSync('docker-compose.yml', 'utf8').matchAll(/image: billhook\/(\w+):/g);
  const saved = stepsOf(releasable, '/out').find(({ name }) => name === 'archive of the images')?.command ?? [];

  expect(saved.filter((word) => word.startsWith('billhook/')).toSorted()).toEqual(
    [...new Set([...built].map(([, name]) => `billhook/${name}:0.2.0`))].toSorted(),
  );
});

test('when a tag is pushed, then the workflow publishes the images that a release has', () => {
  const workflow = parse(readFileSync('.github/workflows/release.yml', 'utf8'));
  const saved = stepsOf(releasable, '/out').find(({ name }) => name === 'archive of the images')?.command ?? [];
  const names = saved.flatMap((word) => /^billhook\/(\w+):/.exec(word)?.[1] ?? []);

  expect(workflow.on.push.tags).toEqual(['v*']);
  expect(workflow.jobs.images.strategy.matrix.service.toSorted()).toEqual(names.toSorted());
});
