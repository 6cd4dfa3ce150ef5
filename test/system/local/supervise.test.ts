// A part that ends by itself is named and started again, until the supervisor is asked to stop.
import { expect, test } from '@jest/globals';
import type { Exit } from '../../../deploy/backends/child.ts';
import { type Running, supervise } from '../../../deploy/local/supervise.ts';
import { eventually } from '../../support/eventually.ts';

test('when a part keeps ending, then it is started again each time', async () => {
  const { start, crash, starts } = aPart();
  const notes: string[] = [];
  const part = await supervise({ name: 'gateway', start, terminal: terminal(notes), onChange: () => {} });

  for (const count of [2, 3, 4]) {
    crash({ code: 1, signal: null });
    await eventually(() => starts() === count);
    await eventually(() => notes.filter((line) => line.endsWith('is back')).length === count - 1);
  }
  await part.stop();

  expect(notes.filter((line) => line === 'gateway stopped by itself (exit code 1), starting again')).toHaveLength(3);
});

test('when starting again fails, then its reason is named and the next try follows', async () => {
  const { start, crash, starts, failNext } = aPart();
  const notes: string[] = [];
  const part = await supervise({ name: 'redis', start, terminal: terminal(notes), onChange: () => {} });

  failNext('the port is taken');
  crash({ code: null, signal: 'SIGKILL' });
  await eventually(() => part.pid() === 3);
  await part.stop();

  expect(starts()).toBe(3);
  expect(notes).toEqual([
    'redis stopped by itself (ended by SIGKILL), starting again',
    'redis stopped by itself (the port is taken), starting again',
    'redis is back',
  ]);
});

test('when it is stopped while it waits, then it is not started again', async () => {
  const { start, crash, starts } = aPart();
  const notes: string[] = [];
  const part = await supervise({ name: 'webhooks', start, terminal: terminal(notes), onChange: () => {} });

  crash({ code: 1, signal: null });
  await eventually(() => notes.length > 0);
  await part.stop();

  expect(starts()).toBe(1);
  expect(part.pid()).toBeUndefined();
});

test('when the first start fails, then its error is thrown', async () => {
  const { start, failNext } = aPart();
  failNext('no such program');

  const first = supervise({ name: 'redis', start, terminal: terminal([]), onChange: () => {} });

  await expect(first).rejects.toThrow('no such program');
});

function aPart() {
  let count = 0;
  let problem: string | undefined;
  let end: (exit: Exit) => void = () => {};
  const start = async (): Promise<Running> => {
    count += 1;
    if (problem) {
      const message = problem;
      problem = undefined;
      throw new Error(message);
    }
    const exited = new Promise<Exit>((resolve) => {
      end = resolve;
    });
    return { pid: count, exited, stop: async () => end({ code: 0, signal: null }) };
  };
  return {
    start,
    starts: () => count,
    crash: (exit: Exit) => end(exit),
    failNext: (message: string) => {
      problem = message;
    },
  };
}

function terminal(notes: string[]) {
  return { say: () => {}, note: (name: string, line: string) => void notes.push(`${name} ${line}`) };
}
