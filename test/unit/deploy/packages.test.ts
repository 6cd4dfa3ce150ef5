// The packages that `npm install` brings, as the lock file lists them.
import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { expect, test } from '@jest/globals';

const lock: { packages: Record<string, { devOptional?: boolean }> } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
);
const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The library of Stripe names these types as its optional peer, and npm has no way to leave them out. They are 2.5 MB. */
const PEERS_OF_STRIPE = ['node_modules/@types/node'];

test('when production is installed, then no tool of development comes along', () => {
  // npm installs these in production, too: a package there names the tool as an optional peer.
  const paths = Object.keys(lock.packages).filter((path) => lock.packages[path]?.devOptional);
  const both = paths.filter((path) => !PEERS_OF_STRIPE.includes(path));
  const tools = Object.keys(devDependencies).map((name) => `node_modules/${name}`);

  expect(tools.length).toBeGreaterThan(20);
  expect(both.filter((path) => tools.includes(path))).toEqual([]);
});

test('when production is installed, then it has every package that runs outside of tests', () => {
  const sources = globSync('{services,libs,deploy/{backends,backup,local,redis}}/**/*.ts');
  const imported = sources.flatMap((file) => {
    // Types are gone before anything runs.
    const text = readFileSync(file, 'utf8').replaceAll(/^import type [^;]*;/gm, '');
    return [
      ...text.matchAll(/^(?:import .*|} )from '([^'.#][^']*)'|^import '([^'.#][^']*)'|\bimport\('([^'.#][^']*)'\)/gm),
    ]
      .map(([, one, two, three]) => one ?? two ?? three ?? '')
      .map((name) =>
        name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/'),
      );
  });
  const packages = new Set(imported.filter((name) => !name.startsWith('node:') && !builtinModules.includes(name)));

  expect([...packages]).toEqual(expect.arrayContaining(['express', 'get-port', 'mongodb-memory-server-core']));
  expect([...packages].filter((name) => !(name in dependencies))).toEqual([]);
});
