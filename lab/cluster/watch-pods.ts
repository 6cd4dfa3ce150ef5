// Watches the pods of the namespace and keeps when each became ready, by our clock: Kubernetes itself keeps whole seconds.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

const LABEL = "{.metadata.labels['app\\.kubernetes\\.io/name']}";
const READY = "{.status.conditions[?(@.type=='Ready')].status}";

export interface PodWatch {
  /** When the newest pod of a service became ready; undefined while it is not. */
  readyAt(name: string): number | undefined;
  ipOf(name: string): string | undefined;
  close(): void;
}

interface Pod {
  uid: string;
  ip: string;
  readyAt: number | undefined;
}

/** Resolves once every named service that has pods is known. */
export async function watchPods(names: string[]): Promise<PodWatch> {
  const pods = new Map<string, Pod>();
  const form = `jsonpath=${LABEL}|{.metadata.uid}|{.metadata.deletionTimestamp}|{.status.podIP}|${READY}{"\\n"}`;
  const child = spawn('kubectl', ['-n', 'billhook', 'get', 'pods', '--watch', '-o', form], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    const [name = '', uid = '', deletedAt, ip = '', ready] = line.split('|');
    if (!names.includes(name) || deletedAt) return;
    const before = pods.get(name);
    const readyAt = before?.uid === uid ? before.readyAt : undefined;
    pods.set(name, { uid, ip, readyAt: ready === 'True' ? (readyAt ?? Date.now()) : undefined });
  });
  await once(lines, 'line');
  await pause(500); // The rest of the list.
  return {
    readyAt: (name) => pods.get(name)?.readyAt,
    ipOf: (name) => pods.get(name)?.ip || undefined,
    close: () => void child.kill(),
  };
}
