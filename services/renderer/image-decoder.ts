// Starts and watches the process that decodes images: as locked in as Chromium, replaced when it is stuck or dead.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { DecodeAnswer, DecodeRequest, ImageFault, ImageUse } from './decode-image.ts';
import { canRead, type Isolation } from './isolation.ts';

/** Sixteen megapixels take about one second. */
const LIMIT_MS = 5_000;
const HEAP_MEGABYTES = 128;
const PROGRAM = join(import.meta.dirname, 'decode-image.ts');

export interface ImageDecoder {
  /** @returns a data URI, or why there is none. Never throws. */
  decode(bytes: Buffer, use: ImageUse): Promise<{ dataUri: string } | { fault: ImageFault }>;
  close(): void;
}

export async function openImageDecoder(isolation: Isolation): Promise<ImageDecoder> {
  const wrapper = (await canRead([PROGRAM, process.execPath], isolation)) ? isolation.wrapper : [];
  const waiters = new Map<number, (answer: DecodeAnswer) => void>();
  let lastId = 0;
  let child: ChildProcess | undefined;

  // Started with the first image: most documents have none, or one that is remembered.
  function running(): ChildProcess {
    if (child) return child;
    const [program = process.execPath, ...rest] = [...wrapper, process.execPath];
    const started = spawn(program, [...rest, `--max-old-space-size=${HEAP_MEGABYTES}`, PROGRAM], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
      env: { PATH: '/usr/bin:/bin' },
    });
    started.on('message', (answer: DecodeAnswer) => settle(answer));
    started.once('error', () => abandon(started));
    started.once('exit', () => abandon(started));
    // Neither it nor its channel keeps a renderer alive that is done otherwise.
    started.unref();
    started.channel?.unref();
    child = started;
    return started;
  }

  function settle(answer: DecodeAnswer) {
    waiters.get(answer.id)?.(answer);
    waiters.delete(answer.id);
  }

  // What made the decoder fall is not an image anybody needs; the others of the same moment are lost with it.
  function abandon(dead: ChildProcess) {
    if (child !== dead) return;
    child = undefined;
    dead.kill('SIGKILL');
    for (const id of [...waiters.keys()]) settle({ id, fault: 'not an image' });
  }

  return {
    decode: (bytes, use) =>
      new Promise((resolve) => {
        const current = running();
        lastId += 1;
        const timer = setTimeout(() => abandon(current), LIMIT_MS);
        waiters.set(lastId, ({ id: _id, ...answer }) => {
          clearTimeout(timer);
          resolve(answer);
        });
        current.send({ id: lastId, bytes, use } satisfies DecodeRequest, (error) => error && abandon(current));
      }),
    close() {
      child?.kill('SIGKILL');
    },
  };
}
