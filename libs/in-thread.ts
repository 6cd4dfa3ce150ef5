// Runs hostile input through a program in a thread of its own: it can neither take the memory of the process nor block its event loop.
import { Worker } from 'node:worker_threads';

export interface ThreadLimits {
  timeMs: number;
  memoryMb: number;
  /** Aborts the work when its caller has gone. */
  signal: AbortSignal;
}

/**
 * Returns the first message of the program, or `too costly` when it needs more time or memory than it may have.
 * @param program the file that the thread runs. It gets `input` as `workerData`.
 * @throws the reason of the signal, or the error that ended the program.
 */
export function runInThread<Outcome>(
  program: URL,
  input: Uint8Array,
  { timeMs, memoryMb, signal }: ThreadLimits,
): Promise<Outcome | 'too costly'> {
  return new Promise((resolve, reject) => {
    // The thread needs nothing of the environment, where secrets are.
    const worker = new Worker(program, {
      workerData: input,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
      env: {},
    });
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeMs)]);
    const end = () => void worker.terminate();
    limited.addEventListener('abort', end);
    worker.once('message', resolve);
    worker.once('error', (error: Error & { code?: string }) =>
      error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve('too costly') : reject(error),
    );
    worker.once('exit', () => {
      limited.removeEventListener('abort', end);
      if (signal.aborted) reject(signal.reason);
      // Nothing happens when the thread has answered before.
      else resolve('too costly');
    });
  });
}
