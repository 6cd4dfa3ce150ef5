// The packages that `npm install` brings, as the lock file lists them.
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const lock: { packages: Record<string, { devOptional?: boolean }> } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
);
const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

test('when production is installed, then no tool of development comes along', () => {
  // npm installs these in production, too: a package there names the tool as an optional peer.
  const both = Object.keys(lock.packages).filter((path) => lock.packages[path]?.devOptional);
  const tools = Object.keys(devDependencies).map((name) => `node_modules/${name}`);

  expect(tools.length).toBeGreaterThan(20);
  expect(both.filter((path) => tools.includes(path))).toEqual([]);
});
