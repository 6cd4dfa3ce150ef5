// The package @billhook/client as a newcomer meets it: its tarball in an empty folder, and the blocks of its README in one file.

import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import getPort from 'get-port';
import { programOf } from '../../support/clients/blocks.ts';
import { testWith } from '../../support/clients/described-system.ts';
import { npmTool, runTool, type Tool } from '../../support/clients/tools.ts';
import { pdfOf } from '../../support/pdf-body.ts';
import { startSystem, type TestSystem } from '../../support/system.ts';
import { openWatchedPage } from '../../support/watched-page.ts';

const PROJECT = join(import.meta.dirname, '../../..');
const README = join(PROJECT, 'client/README.md');
const PLATFORM = `${process.platform}-${process.arch}`;

let pages: Server;
let origin: string;
let system: TestSystem;
let scratch: string;
/** The newcomer's folder, with the package in its `node_modules`. */
let folder: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'billhook-npm-'));
  folder = join(scratch, 'empty');
  await mkdir(folder);
  await runTool('npm', ['run', 'client:npm', '--', '--out', scratch], { cwd: PROJECT });
  const [tarball = ''] = (await readdir(scratch)).filter((name) => name.endsWith('.tgz'));
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  await runTool('npm', ['install', '--offline', '--no-audit', '--no-fund', join(scratch, tarball)], { cwd: folder });

  pages = createServer(
    (request, response) =>
      void answerPage(request.url ?? '/').then((page) => response.writeHead(page.status, page.headers).end(page.body)),
  );
  pages.listen(0, '127.0.0.1');
  await once(pages, 'listening');
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  system = await startSystem({ env: { CORS_ORIGINS: origin } });
});
afterAll(async () => {
  pages?.close();
  await system?.close();
  await rm(scratch, { recursive: true, force: true });
});

/** Serves the installed package, and an empty page for every other path. */
async function answerPage(path: string) {
  const isScript = extname(path) === '.js';
  const body = isScript
    ? await readFile(join(folder, 'node_modules/@billhook/client', path))
    : '<!doctype html><title>Page</title><link rel="icon" href="data:,">';
  return { status: 200, headers: { 'Content-Type': isScript ? 'text/javascript' : 'text/html' }, body };
}

test('when the tarball is installed in an empty folder, then nothing else comes with it, and it has what a package needs', async () => {
  const installed = join(folder, 'node_modules/@billhook/client');
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));

  expect(await readdir(join(folder, 'node_modules'))).toEqual(
    expect.not.arrayContaining([expect.stringMatching(/^[^@.]/)]),
  );
  expect(manifest).toMatchObject({
    name: '@billhook/client',
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
  });
  expect(manifest).not.toHaveProperty('dependencies');
  expect(await readdir(installed)).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'index.js', 'index.d.ts']));
  const scripts = (await readdir(installed, { recursive: true })).filter((name) => name.endsWith('.js'));
  for (const name of scripts) expect(await readFile(join(installed, name), 'utf8')).not.toMatch(/from ['"](?!\.\.?\/)/);
});

test("when README's blocks are compiled with the types of the package, then strictly, and a wrong field is an error", async () => {
  const compile = async (name: string, program: string) => {
    await writeFile(join(folder, name), program);
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit'];
    const modern = ['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,dom,dom.asynciterable'];
    const types = ['--types', 'node', '--typeRoots', join(PROJECT, 'node_modules/@types')];
    const tsc = join(PROJECT, 'node_modules/typescript-7/bin/tsc');
    return runTool(process.execPath, [tsc, '--ignoreConfig', ...strict, ...modern, ...types, name], { cwd: folder });
  };
  const program = programOf(README, 'js');

  await compile('month.mts', program);
  const wrong = `${program}\nawait api.addClient({ body: { nmae: 'Ada' } });\nconst status: 'Late' = invoice.status;\n`;
  await expect(compile('wrong.mts', wrong)).rejects.toThrow(
    /'nmae' does not exist[\s\S]*not assignable to type '"Late"'/,
  );
});

const OF_NPM = (name: string, version: string) =>
  npmTool(`${name.split('/').pop()}-${version}`, [`${name}@${version}`]);
const RUNTIMES: [name: string, tool: Tool, program: string][] = [
  ['the Node that runs the tests', { folder: '' }, process.execPath],
  ['Node 20', await OF_NPM(`node-${PLATFORM}`, '20.20.2'), `node_modules/node-${PLATFORM}/bin/node`],
  ['Node 22', await OF_NPM(`node-${PLATFORM}`, '22.23.3'), `node_modules/node-${PLATFORM}/bin/node`],
  ['Bun', await OF_NPM(`@oven/bun-${PLATFORM}`, '1.4.5'), `node_modules/@oven/bun-${PLATFORM}/bin/bun`],
];

for (const [index, [name, tool, program]] of RUNTIMES.entries()) {
  testWith(
    [tool],
    `when a newcomer runs README's blocks on ${name}, then an invoice is printed and paid, and its webhook verified`,
    async (root) => {
      const { key } = await system.workspace.account();
      const file = `month-${index}.mjs`;
      const replaced = { 'localhost:3999': `127.0.0.1:${await getPort()}` };
      const [, port = ''] = Object.values(replaced)[0]?.split(':') ?? [];
      await writeFile(
        join(folder, file),
        programOf(README, 'js', { ...replaced, 'listen(3999': `listen(${port}`, 'invoice.pdf': `${file}.pdf` }),
      );

      const env = { PATH: process.env['PATH'], BILLHOOK_URL: system.gateway.url, BILLHOOK_KEY: key };
      const run = async () =>
        (await runTool(root ? join(root, program) : program, [file], { cwd: folder, env })).trimEnd().split('\n');
      // The call of the webhook arrives beside the last blocks.
      const printed = (number: string) => [
        `${number} 282.63 USD`,
        `${number} Paid`,
        'Validation failed; email must be a valid email (400)',
        `paid: ${number}`,
        'validation_failed email invalid_email',
      ];

      expect((await run()).toSorted()).toEqual(printed('INV-0001'));
      // Newcomers try it again.
      expect((await run()).toSorted()).toEqual(printed('INV-0002'));
      expect(String(await readFile(join(folder, `${file}.pdf`))).slice(0, 5)).toBe('%PDF-');
    },
  );
}

test('when a page of an allowed origin imports the package, then it lists, prints, verifies, and reads the code of an error', async () => {
  const { key } = await system.workspace.account();
  const { chromium, page, problems } = await openWatchedPage(system.workspace.chromiumPath);
  try {
    await page.goto(origin);
    // The tests' own compiler rewrites functions, and imports in them: the page gets its program as a text.
    const program = `(async () => {
      const { ApiError, billhook, verifyWebhook } = await import('/index.js');
      const api = billhook({ url: ${JSON.stringify(system.gateway.url)}, key: ${JSON.stringify(key)} });
      for (const name of ['Ada', 'Ben', 'Cleo']) await api.addClient({ body: { name, email: 'page@example.com' } });
      const names = [];
      for await (const client of api.listClients.items({ query: { limit: 2 } })) names.push(client.name);
      const pdf = await api.generatePdf({ body: ${JSON.stringify(pdfOf('Invoice'))} });
      const missing = await api.getClient({ path: { id: '019a1f00-0000-7000-8000-000000000000' } }).catch((error) => error);
      const unsigned = await verifyWebhook('{}', {}, 'whsec_AAAA').catch((error) => error.code);
      const forged = { 'webhook-id': '1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)), 'webhook-signature': 'v1,AAAA' };
      const wrong = await verifyWebhook('{}', forged, 'whsec_AAAA').catch((error) => error.code);
      return { names, pdf: (await pdf.text()).slice(0, 5), missing: [missing instanceof ApiError, missing.status, missing.code], unsigned, wrong };
    })()`;

    expect(await page.evaluate(program)).toEqual({
      names: ['Cleo', 'Ben', 'Ada'],
      pdf: '%PDF-',
      missing: [true, 404, 'client_not_found'],
      unsigned: 'missing_header',
      wrong: 'wrong_signature',
    });
    // The browser itself reports the 404 that the page asked for.
    expect(problems).toEqual([expect.stringContaining('404')]);
  } finally {
    await chromium.close();
  }
});
