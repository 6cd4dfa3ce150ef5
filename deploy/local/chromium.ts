// Finds a Chromium that prints, a headless shell before a whole browser: it prints a page about four times as fast.
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import { cacheFolder, keepInCache, readCache, type Slot } from './cache.ts';
import { asSearch, type FindOptions, findFirst, type Program, prove, proveOnPath, type Search } from './program.ts';

const proof: Slot['proof'] = { pattern: /(\d+\.\d+\.\d+\.\d+)/, atLeast: [115, 0] };

const ON_PATH = ['chromium-headless-shell', 'chrome-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const REMEDY =
  'Install chromium-headless-shell, chromium or Google Chrome so that it is on PATH,\n' +
  'or set CHROMIUM_PATH to the program, for example CHROMIUM_PATH=/usr/bin/chromium';

export async function findChromium(options: FindOptions): Promise<Program> {
  const search = asSearch(options);
  const named = search.env['CHROMIUM_PATH'];
  if (named) return await findFirst('Chromium', [{ name: 'CHROMIUM_PATH', look: () => prove(named, 'CHROMIUM_PATH', proof) }], REMEDY);
}
