// The machine under the services: no memory for a page, no room to write, no descriptors left.
import { readdir, readFile } from 'node:fs/promises';
import { eventually } from '../../eventually.ts';
import { anyOf, type Fault, type FaultContext, seconds } from '../fault.ts';
import { browserOf, childrenOf, limit, processesOf, unlimit } from '../system/processes.ts';

const MORE_MEMORY = 32 * 1024 * 1024;
const MORE_DESCRIPTORS = 4;

export const machineFaults: readonly Fault[] = [
  {
    id: 'F30',
    title: 'a page of the browser gets no more memory',
    spares: ['records'],
    async run({ system, chance, say, isShort }) {
      const renderer = anyOf(system.renderers, chance);
      const browser = await eventually(() => browserOf(system.folder, renderer.pid()));
      const pages = await childrenOf(system.folder, browser, 'renderer');
      for (const pid of pages) await limit(pid, 'as', (await memoryOf(pid)) + MORE_MEMORY);
      say(`${pages.length} pages of ${renderer.name} get no more memory`);
      await seconds(isShort ? 4 : 15);
      // Their successors have no limit; those that live on get theirs back.
      for (const pid of pages) await unlimit(pid, 'as');
    },
  },
  {
    id: 'F31',
    title: 'a renderer and its browser cannot write files',
    spares: ['records'],
    async run(context) {
      const { say, isShort } = context;
      const pids = await rendererProcesses(context);
      for (const pid of pids) await limit(pid, 'fsize', 0);
      say(`${pids.length} processes cannot write`);
      try {
        await seconds(isShort ? 4 : 15);
      } finally {
        for (const pid of await rendererProcesses(context)) await unlimit(pid, 'fsize');
      }
    },
  },
  {
    id: 'F34',
    title: 'a gateway has no descriptors left',
    spares: [],
    async run({ system, chance, say, isShort }) {
      const gateway = anyOf(system.gateways, chance);
      const pid = gateway.pid() ?? 0;
      const used = (await readdir(`/proc/${pid}/fd`)).length;
      await limit(pid, 'nofile', used + MORE_DESCRIPTORS);
      say(`${gateway.name} may open ${MORE_DESCRIPTORS} more`);
      try {
        await seconds(isShort ? 5 : 20);
      } finally {
        await unlimit(pid, 'nofile');
      }
    },
  },
];

async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmSize:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

async function rendererProcesses({ system }: FaultContext): Promise<number[]> {
  const [first] = system.renderers;
  const all = await processesOf(system.folder);
  const group = all.filter((one) => one.pid === first?.pid() || one.parent === first?.pid());
  return group.map(({ pid }) => pid);
}
