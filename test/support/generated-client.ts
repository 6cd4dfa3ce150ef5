// Generates the typed client and loads it: the repository does not keep it.
import { spawnSync } from 'node:child_process';

type GeneratedClient = typeof import('../../client/generated/billhook.ts');

/** @throws when the generator fails, with what it printed. */
export async function generateClient(): Promise<GeneratedClient> {
  const { status, stderr } = spawnSync(process.execPath, ['client/generate.ts'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`client/generate.ts failed: ${stderr}`);
  return import('../../client/generated/billhook.ts');
}
