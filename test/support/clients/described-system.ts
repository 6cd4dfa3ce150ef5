// A system for tests of generators: services to call, the OpenAPI document as a file, and a folder for generated code.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from '@jest/globals';
import { startSystem, type TestSystem } from '../system.ts';
import type { Tool } from './tools.ts';

export interface DescribedSystem {
  system: TestSystem;
  /** Removed at the end. */
  scratch: string;
  /** The path of `/openapi.json`, as the gateway serves it. */
  document: string;
  close(): Promise<void>;
}

/** The programs in another language that the tests run beside a generated client. */
export const FLOWS = import.meta.dirname;

export async function startDescribedSystem(): Promise<DescribedSystem> {
  const system = await startSystem();
  const scratch = await mkdtemp(join(tmpdir(), 'billhook-clients-'));
  const document = join(scratch, 'openapi.json');
  await writeFile(document, await (await fetch(`${system.gateway.url}/openapi.json`)).text());
  return {
    system,
    scratch,
    document,
    async close() {
      await rm(scratch, { recursive: true, force: true });
      await system.close();
    },
  };
}

/** Runs where all tools are available; otherwise the title says why it is skipped. @param run gets the folder of the last. */
export function testWith(tools: readonly Tool[], name: string, run: (folder: string) => Promise<void>): void {
  let folder = '';
  for (const tool of tools) {
    if ('missing' in tool) {
      test.skip(`${name} (skipped: ${tool.missing})`, () => {});
      return;
    }
    folder = tool.folder;
  }
  test(name, () => run(folder), 600_000);
}
