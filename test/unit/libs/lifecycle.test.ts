// The end of a service whose own code cannot end it any more: after a crash of native code, and while Node.js hangs as it exits.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';

const LIMIT_MS = 60_000;

async function outcomeOf(program: string, signal?: NodeJS.Signals) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  if (signal) child.stderr.on('data', (said) => String(said).includes('hangs') && child.kill(signal));
  const [output, [code, killedBy]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { output, code, killedBy };
}

test('when code outside of JavaScript reads memory that is not its own, then the service does not spin on the signal', async () => {
  // Reads beyond a memory of one page. V8 turns the signal of such a read into an error, unless JavaScript handles the signal.
  const reads = [
    0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 5, 3, 1, 0, 1, 7, 5, 1, 1, 102, 0, 0, 10, 9,
    1, 7, 0,
  ];
  const wasm = [...reads, 32, 0, 40, 2, 0, 11];
  const program = `
    const { run } = await import('./libs/service/lifecycle.ts');
    await run(async () => {
      const { instance } = await WebAssembly.instantiate(Uint8Array.from(${JSON.stringify(wasm)}));
      try {
        instance.exports.f(2 ** 31 - 1);
      } catch (error) {
        console.log(error.message);
      }
    });`;

  expect(await outcomeOf(program)).toEqual({ output: 'memory access out of bounds\n', code: 0, killedBy: null });
});

test('when a service hangs as it exits, then SIGTERM ends it', async () => {
  const program = `
    const { writeSync } = await import('node:fs');
    const { run } = await import('./libs/service/lifecycle.ts');
    const { ConfigError } = await import('./libs/service/config-error.ts');
    await run(async () => {
      process.once('exit', () => {
        writeSync(2, 'hangs');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      });
      throw new ConfigError(['a problem']);
    });`;

  expect(await outcomeOf(program, 'SIGTERM')).toEqual({ output: '', code: null, killedBy: 'SIGTERM' });
});
