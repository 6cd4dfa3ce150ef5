// Several schedulers of which any may be killed at any moment; another takes its place.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { compiledCode } from '../../../deploy/local/service-env.ts';

const PROGRAM = fileURLToPath(new URL('./scheduler-process.ts', import.meta.url));

export interface SchedulerFleet {
  /** Tells every scheduler what time it is, also those that come later. */
  setTime(at: Date): void;
  /** SIGKILL, and a new one in its place. @param index from 0; of one that lives. */
  kill(index: number): void;
  /** Resolves once a scheduler found nothing to do at the time that was set last. */
  idle(): Promise<void>;
  stop(): void;
}

export async function startFleet(mongodbUri: string, size: number): Promise<SchedulerFleet> {
  let time: number | undefined;
  let isStopped = false;
  let whenIdle: (() => void) | undefined;
  const start = () => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, mongodbUri], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, ...compiledCode(process.env) },
    });
    child.on('message', (message) => {
      if (message === 'ready' && time !== undefined) child.send(time);
      if (message === time) whenIdle?.();
    });
    // One that ended by itself would make the trial easier than it says.
    child.once('exit', (_code, signal) => {
      if (!isStopped && signal !== 'SIGKILL') throw new Error('a scheduler ended by itself');
    });
    return child;
  };
  const children: ChildProcess[] = Array.from({ length: size }, start);
  const end = () => {
    isStopped = true;
    for (const child of children) child.kill('SIGKILL');
  };
  process.once('exit', end);
  await Promise.all(children.map((child) => once(child, 'message')));
  return {
    setTime(at) {
      time = at.getTime();
      for (const child of children) if (child.connected) child.send(time);
    },
    kill(index) {
      children[index]?.kill('SIGKILL');
      children[index] = start();
    },
    idle: () => new Promise((resolve) => (whenIdle = resolve)),
    stop() {
      process.off('exit', end);
      end();
    },
  };
}
