// promtool of Prometheus: named by PROMETHEUS_HOME, on PATH, or unpacked from Debian's archive without installing it.
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const FETCH_LIMIT_MS = 180_000;

/** @param folder where it is unpacked when it is nowhere else. @throws when there is neither promtool nor apt-get. */
export async function findPromtool(env: NodeJS.ProcessEnv, folder: string): Promise<string> {
  for (const place of [env['PROMETHEUS_HOME'], ...(env['PATH'] ?? '').split(delimiter)]) {
    const promtool = place && join(place, 'promtool');
    if (promtool && (await isProgram(promtool))) return promtool;
  }
  await execute('apt-get', ['download', 'prometheus'], { cwd: folder, timeout: FETCH_LIMIT_MS });
  const [archive = ''] = (await readdir(folder)).filter((name) => name.endsWith('.deb'));
  await execute('dpkg', ['-x', join(folder, archive), folder]);
  return join(folder, 'usr', 'bin', 'promtool');
}

const isProgram = (path: string) =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
