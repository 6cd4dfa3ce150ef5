// Checks the configuration, Node, and Chromium where CHROMIUM_PATH is set.
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { promisify } from 'node:util';
import Joi from 'joi';
import { errorText } from '#libs/errors.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { ConfigError } from '#libs/service/config-error.ts';
import { readEnv, variables } from '#libs/service/env.ts';
import { type Finding, finding, isAtLeast } from './check-result.ts';

const execute = promisify(execFile);
const NODE_LEAST_VERSION = '24.16';
const PROBE_LIMIT_MS = 10_000;

/** Variables that services share. None is required here, because they may be set where the services run. */
const shape = Joi.object({
  ...Object.fromEntries(Object.entries(variables).map(([name, variable]) => [name, variable.optional()])),
});

/**
 * Examines the configuration.
 * @param keptIn the data folder of `npm start`, where that keeps the key.
 */
export function examineConfig(env: NodeJS.ProcessEnv, keptIn?: string): Finding[] {
  try {
    const config = readEnv(env, shape) as { SECRET_KEY?: string };
    return [{ status: 'ok', check: 'Configuration', found: 'readable' }, ...secretFindings(config.SECRET_KEY, keptIn)];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const found = error.message.split('\n').slice(1).join(';').replaceAll('  - ', ' ').trim();
    const advice = 'Correct the variables; services do not start with them';
    return [{ status: 'problem', check: 'Configuration', found, advice }];
  }
}

function secretFindings(keys: string | undefined, keptIn: string | undefined): Finding[] {
  const check = 'SECRET_KEY';
  if (keys === undefined && keptIn) return [{ status: 'ok', check, found: `1 key, kept in ${keptIn}` }];
  if (keys === undefined) return [{ status: 'unknown', check, found: 'not set here' }];
  try {
    openSecretBox(keys);
    return [{ status: 'ok', check, found: `${keys.split(',').length} key(s)` }];
  } catch (error) {
    const found = errorText(error);
    return [{ status: 'problem', check, found, advice: 'Make one with "openssl rand -base64 32"' }];
  }
}

export function examineNode(): Finding[] {
  const { node } = process.versions;
  const advice = `Run Node ${NODE_LEAST_VERSION} or later`;
  return [finding('Node', node, isAtLeast(node, NODE_LEAST_VERSION), advice)];
}

/** Examines Chromium. @param path undefined where no renderer runs, which checks nothing. */
export async function examineChromium(path: string | undefined): Promise<Finding[]> {
  if (!path) return [];
  try {
    // The system looks up a name without a folder.
    if (path.includes('/')) await access(path, constants.X_OK);
    const { stdout } = await execute(path, ['--version'], { timeout: PROBE_LIMIT_MS });
    return [{ status: 'ok', check: 'Chromium', found: stdout.trim() }, await sandboxFinding()];
  } catch (error) {
    const found = `${path}: ${String(error).split('\n', 1)[0] ?? ''}`;
    return [{ status: 'problem', check: 'Chromium', found, advice: 'Set CHROMIUM_PATH to a Chromium that starts' }];
  }
}

/** Checks if Chromium's sandbox works. It needs user namespaces; `unshare` shows if the kernel grants them. */
async function sandboxFinding(): Promise<Finding> {
  const check = 'Chromium sandbox';
  if (process.platform !== 'linux') return { status: 'ok', check, found: 'needs nothing on this system' };
  const isGranted = await execute('unshare', ['--user', '--map-root-user', '--pid', '--net', '--fork', 'true'], {
    timeout: PROBE_LIMIT_MS,
  }).then(
    () => true,
    () => false,
  );
  const advice =
    'Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu ' +
    'kernel.apparmor_restrict_unprivileged_userns=0), or give the container a seccomp profile that allows them';
  return finding(check, isGranted ? 'the kernel grants it' : 'the kernel refuses it', isGranted, advice, 'warning');
}
