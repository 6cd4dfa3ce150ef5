// The fault proxies in a process of their own, so that the one that judges cannot slow the network it judges by.
import { fork } from 'node:child_process';
import { chanceOf } from '../../chance.ts';
import type { NetworkFault } from '../kinds/network-fault.ts';
import { type FaultProxy, openFaultProxy } from './fault-proxy.ts';

export interface Way {
  /** The address that it listens on, 127.0.0.1 unless given. */
  host?: string;
  port: number;
  target: number;
}

export interface Network {
  pid: number;
  /** @param index of the way, as they were given. */
  become(index: number, fault: NetworkFault | undefined): Promise<void>;
  close(): Promise<void>;
}

interface Order {
  turn: number;
  index: number;
  fault?: NetworkFault;
}

/** Opens a proxy for each way. */
export async function openNetwork(ways: readonly Way[], seed: number, env: NodeJS.ProcessEnv): Promise<Network> {
  const child = fork(import.meta.filename, [JSON.stringify({ ways, seed })], { env, execArgv: [], stdio: 'inherit' });
  const done = new Map<number, () => void>();
  let turn = 0;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the fault proxies ended with ${code}`)));
    child.on('message', (answered: number) => {
      if (answered === 0) resolve();
      else done.get(answered)?.();
      done.delete(answered);
    });
  });
  return {
    pid: child.pid as number, // It has answered.
    become: (index, fault) =>
      new Promise((resolve) => {
        turn += 1;
        done.set(turn, resolve);
        child.send({ turn, index, ...(fault ? { fault } : {}) } satisfies Order);
      }),
    async close() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function serve({ ways, seed }: { ways: Way[]; seed: number }) {
  const proxies: FaultProxy[] = [];
  for (const [index, { host, port, target }] of ways.entries()) {
    proxies.push(await openFaultProxy(port, target, chanceOf(seed, `proxy ${index}`), host));
  }
  process.on('message', ({ turn, index, fault }: Order) => {
    proxies[index]?.become(fault);
    process.send?.(turn);
  });
  process.on('disconnect', () => process.exit());
  process.send?.(0);
}

const [, script, given] = process.argv;
// Not awaited here: the test runner loads this file in a way that has no top-level await.
if (script === import.meta.filename && given) void serve(JSON.parse(given));
