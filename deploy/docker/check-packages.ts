// Fails the image build when an installed package differs from the lock file, as "npm ci" would.
import { readFileSync } from 'node:fs';

interface Locked {
  packages: Record<string, { version?: string; integrity?: string }>;
}

const [lockFile = '', folder = ''] = process.argv.slice(2);
const read = (file: string) => (JSON.parse(readFileSync(file, 'utf8')) as Locked).packages;
const locked = read(lockFile);
// The file is npm's record of the installed packages.
const installed = Object.entries(read(`${folder}/.package-lock.json`));
const wrong = installed.filter(([path, { version, integrity }]) => {
  const wanted = locked[path];
  return !wanted || wanted.version !== version || wanted.integrity !== integrity;
});
for (const [path, { version }] of wrong) {
  process.stderr.write(`${path} ${version} is not what the lock file says: ${locked[path]?.version ?? 'nothing'}\n`);
}
if (installed.length === 0) process.stderr.write(`nothing is installed in ${folder}\n`);
if (wrong.length > 0 || installed.length === 0) process.exitCode = 1;
else process.stdout.write(`${installed.length} packages, each as the lock file has it\n`);
