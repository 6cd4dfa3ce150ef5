// `npm run reference-viewer -- VERSION`: replaces the copy of Scalar's script that the gateway serves by that of another version.
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const NAME = '@scalar/api-reference';
const SCRIPT = 'package/dist/browser/standalone.js';
const TARGET = join(import.meta.dirname, '../../services/gateway/reference/scalar');

const [, , version = ''] = process.argv;
if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('name a version, like 1.76.0');
const folder = mkdtempSync(join(tmpdir(), 'billhook-viewer-'));
try {
  // npm compares the archive with the checksum of the registry before it writes it.
  const [packed] = JSON.parse(run('npm', ['pack', `${NAME}@${version}`, '--json', '--pack-destination', folder])) as [
    { filename: string; integrity: string },
  ];
  run('tar', ['-xzf', join(folder, packed.filename), '-C', folder, SCRIPT]);
  const script = readFileSync(join(folder, SCRIPT));
  const manifest = { package: NAME, version, integrity: packed.integrity, sha256: hash('sha256', script, 'hex') };
  writeFileSync(join(TARGET, 'standalone.js.gz'), gzipSync(script, { level: 9 }));
  writeFileSync(join(TARGET, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}

function run(command: string, args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`);
  return stdout;
}
