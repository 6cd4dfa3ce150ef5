// The release of the running program.
import { readFileSync } from 'node:fs';

let version: string | undefined;

/** Returns the version in package.json. */
export function release(): string {
  version ??= (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string })
    .version;
  return version;
}
