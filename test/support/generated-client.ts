// Generates the typed client and loads it with the package's own layer: the repository does not keep it.
import { spawnSync } from 'node:child_process';
import { compiledCode } from '../../deploy/local/service-env.ts';

type ClientPackage = typeof import('../../client/index.ts');

/** @throws when the generator fails, with what it printed. */
export async function generateClient(): Promise<ClientPackage> {
  const { status, stderr } = spawnSync(process.execPath, ['client/generate.ts'], {
    encoding: 'utf8',
    env: { ...process.env, ...compiledCode(process.env) },
  });
  if (status !== 0) throw new Error(`client/generate.ts failed: ${stderr}`);
  return import('../../client/index.ts');
}
