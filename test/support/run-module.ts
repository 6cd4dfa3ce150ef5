// A program in a process of its own, with flags of V8 that the test's own process does not have.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** @param program the text of a module; what it imports is found from the project's root. @returns what it wrote to its standard output. */
export async function runModule(
  program: string,
  { flags, env = {} }: { flags: readonly string[]; env?: Record<string, string> },
): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, '--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program],
    { env: { ...process.env, ...env } },
  );
  return stdout;
}
