// Prometheus and promtool: named, on PATH, or taken from Debian's package into a folder of their own, without installing anything.
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const FETCH_LIMIT_MS = 180_000;

export interface Programs {
  prometheus: string;
  promtool: string;
}

/**
 * @param env PROMETHEUS_HOME may name a folder that holds both.
 * @param folder where they are unpacked when they are nowhere else.
 */
export async function findPrograms(env: NodeJS.ProcessEnv, folder: string): Promise<Programs> {
  for (const place of [env['PROMETHEUS_HOME'], ...(env['PATH'] ?? '').split(delimiter)]) {
    const programs = place && (await programsIn(place));
    if (programs) return programs;
  }
  await execute('apt-get', ['download', 'prometheus'], { cwd: folder, timeout: FETCH_LIMIT_MS });
  const [archive] = (await readdir(folder)).filter((name) => name.endsWith('.deb'));
  if (!archive) throw new Error('apt-get downloaded nothing');
  await execute('dpkg', ['-x', join(folder, archive), folder]);
  const programs = await programsIn(join(folder, 'usr', 'bin'));
  if (!programs) throw new Error('the package of Debian holds no prometheus');
  return programs;
}

async function programsIn(place: string): Promise<Programs | undefined> {
  const programs = { prometheus: join(place, 'prometheus'), promtool: join(place, 'promtool') };
  try {
    for (const program of Object.values(programs)) await access(program, constants.X_OK);
    return programs;
  } catch {
    return undefined;
  }
}
