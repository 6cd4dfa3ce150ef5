// `npm run client:npm [-- --out FOLDER]`: builds the package @billhook/client as a tarball, in dist/ unless said otherwise.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { release } from '#libs/service/release.ts';
import { clientManifest } from './manifest.ts';

const ROOT = join(import.meta.dirname, '..');

const { values } = parseArgs({ options: { out: { type: 'string', default: join(ROOT, 'dist') } } });
const out = resolve(values.out);
const folder = mkdtempSync(join(tmpdir(), 'billhook-npm-'));
try {
  run(process.execPath, [join(import.meta.dirname, 'generate.ts')]);
  // Node runs no TypeScript below node_modules. Without the types of Node, nothing of Node's own gets in.
  const target = ['--target', 'es2022', '--lib', 'es2022,dom,dom.asynciterable', '--module', 'nodenext'];
  const strict = ['--strict', '--rewriteRelativeImportExtensions', '--types', '', '--skipLibCheck'];
  const tsc = join(ROOT, 'node_modules/typescript-7/bin/tsc');
  const source = join(import.meta.dirname, 'index.ts');
  run(process.execPath, [tsc, '--ignoreConfig', '--declaration', ...target, ...strict, '--outDir', folder, source]);
  // The compiler leaves these imports as they are, and there is no such file in the package.
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.d.ts'),
  )) {
    const path = join(folder, file);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"));
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(clientManifest(release()), null, 2)}\n`);
  copyFileSync(join(import.meta.dirname, 'README.md'), join(folder, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  mkdirSync(out, { recursive: true });
  run('npm', ['pack', folder, '--pack-destination', out]);
} finally {
  rmSync(folder, { recursive: true });
}

function run(program: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args[0]} failed:\n${stdout}${stderr}`);
  if (program === 'npm') process.stdout.write(`${join(out, stdout.trim())}\n`);
}
