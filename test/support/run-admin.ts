// Runs one command of the administrator as a process of its own.
import { execFile } from 'node:child_process';
import { compiledCode } from '../../deploy/local/service-env.ts';

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** @param env all that it gets besides PATH and the compiled code. @param input what is typed. */
export function runAdmin(args: string[], env: Record<string, string>, input = ''): Promise<Outcome> {
  const options = { env: { PATH: process.env['PATH'], ...compiledCode(process.env), ...env } };
  return new Promise((resolve) => {
    const child = execFile('node', ['services/admin/main.ts', ...args], options, (error, stdout, stderr) => {
      // Without a number of its own it was killed, or never ran.
      resolve({ code: error ? Number((error as { code?: number }).code ?? -1) : 0, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}
