// Ends the build of an image when a package was installed that is not, to the byte, the one of the lock file: what "npm ci" would promise.
import { readFileSync } from 'node:fs';

interface Locked {
  packages: Record<string, { version?: string; integrity?: string }>;
}

const [lockFile = '', folder = ''] = process.argv.slice(2);
const read = (file: string) => (JSON.parse(readFileSync(file, 'utf8')) as Locked).packages;
const locked = read(lockFile);
// npm's own record of what it has put there.
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
