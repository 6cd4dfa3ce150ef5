// The folder in which fetched programs and compiled code are kept.
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

export function cacheFolder(env: NodeJS.ProcessEnv): string {
  // The folder is absolute, because programs are started from other folders.
  if (env['BILLHOOK_CACHE_DIR']) return resolve(env['BILLHOOK_CACHE_DIR']);
  return resolve(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'billhook');
}

/** Returns the folder of Node's compile cache, which halves the start time of each process. */
export function compiledFolder(env: NodeJS.ProcessEnv): string {
  return env['NODE_COMPILE_CACHE'] ?? join(cacheFolder(env), 'compiled');
}
