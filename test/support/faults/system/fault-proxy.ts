// A TCP proxy that simulates a bad network, seeded so that a run can be repeated.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../../chance.ts';
import type { NetworkFault } from '../kinds/network-fault.ts';

export interface FaultProxy {
  /** Without a fault it is a good network again. */
  become(fault: NetworkFault | undefined): void;
  close(): Promise<void>;
}

/** More than this unsent makes the sender wait, as a real network does. */
const HELD_MAX = 1024 * 1024;

/** @param host the address to listen on. The target is on 127.0.0.1. */
export async function openFaultProxy(
  port: number,
  target: number,
  chance: Chance,
  host = '127.0.0.1',
): Promise<FaultProxy> {
  let fault: NetworkFault | undefined;
  let changed = Promise.withResolvers<void>();
  const open = new Set<Socket>();

  const server: Server = createServer({ allowHalfOpen: true }, (caller) => {
    const callee = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    for (const [socket, other] of [
      [caller, callee],
      [callee, caller],
    ] as const) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.resetAndDestroy());
      socket.on('close', () => {
        open.delete(socket);
        void part(other);
      });
      carry(socket, other);
    }
    if (fault?.kind === 'reset') resetLater(caller, callee, fault.afterMs);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });

  /** A black hole swallows the news that the other end has gone, too. */
  async function part(other: Socket) {
    while (fault?.kind === 'black hole') await changed.promise;
    if (!other.writableEnded) other.destroy();
  }

  /** Brings what one end sends to the other, in order, as late and in such pieces as the fault wants it. */
  function carry(from: Socket, to: Socket) {
    const waiting: { bytes: Buffer; at: number }[] = [];
    let held = 0;
    let carried = 0;
    let isBusy = false;
    let hasEnded = false;

    from.on('data', (bytes: Buffer) => {
      const lateMs = fault?.kind === 'latency' ? fault.ms + (2 * chance.next() - 1) * fault.jitterMs : 0;
      waiting.push({ bytes, at: performance.now() + lateMs });
      held += bytes.length;
      if (held > HELD_MAX) from.pause();
      void deliver();
    });
    from.on('end', () => {
      hasEnded = true;
      void deliver();
    });

    async function deliver() {
      if (isBusy) return;
      isBusy = true;
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        while (fault?.kind === 'black hole') await changed.promise;
        const lateMs = next.at - performance.now();
        if (lateMs > 0) await pause(lateMs);
        await send(next.bytes);
        held -= next.bytes.length;
        if (held <= HELD_MAX) from.resume();
      }
      isBusy = false;
      if (!hasEnded || to.writableEnded) return;
      if (fault?.kind === 'slow close') await pause(fault.ms);
      to.end();
    }

    async function send(bytes: Buffer) {
      for (let rest = bytes; rest.length > 0 && !to.destroyed; ) {
        const { size, waitMs } = pieceOf(rest.length);
        if (fault?.kind === 'limit' && carried + size > fault.bytes) {
          to.write(rest.subarray(0, Math.max(0, fault.bytes - carried)));
          to.destroySoon();
          from.destroy();
          return;
        }
        to.write(rest.subarray(0, size));
        carried += size;
        rest = rest.subarray(size);
        if (waitMs > 0) await pause(waitMs);
      }
    }
  }

  function pieceOf(length: number): { size: number; waitMs: number } {
    if (fault?.kind === 'slices') return { size: Math.min(length, chance.whole(1, fault.bytes)), waitMs: fault.waitMs };
    if (fault?.kind !== 'bandwidth') return { size: length, waitMs: 0 };
    const size = Math.min(length, Math.ceil(fault.bytesPerSecond / 10));
    return { size, waitMs: (size / fault.bytesPerSecond) * 1_000 };
  }

  function resetLater(caller: Socket, callee: Socket, afterMs: number) {
    setTimeout(() => {
      caller.resetAndDestroy();
      callee.resetAndDestroy();
    }, afterMs).unref();
  }

  return {
    become(next) {
      fault = next;
      changed.resolve();
      changed = Promise.withResolvers();
      if (next?.kind !== 'reset') return;
      setTimeout(() => {
        for (const socket of open) socket.resetAndDestroy();
      }, next.afterMs).unref();
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
