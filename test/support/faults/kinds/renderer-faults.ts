// Renderers and their browsers: killed in the middle of a document, paused, or asked to stop one after the other.
import { eventually } from '../../eventually.ts';
import { anyOf, type Fault, type FaultContext, pauseFor, seconds, send } from '../fault.ts';
import { documentOf } from '../load/document-calls.ts';
import type { KeptService } from '../system/kept-service.ts';
import { browserOf, childrenOf } from '../system/processes.ts';

const BOTH = ['records', 'documents'] as const;
/** Keeps a renderer busy for a second or more. */
const HEAVY_LINES = 400;

export const rendererFaults: readonly Fault[] = [
  {
    id: 'F4',
    title: 'a renderer is killed in the middle of a document',
    spares: BOTH,
    isShort: true,
    run: (context) =>
      again(context, context.isShort ? 2 : 5, async () => {
        const victim = await busyRenderer(context);
        victim.signal('SIGKILL');
        context.say(`killed ${victim.name}`);
        await victim.ready();
      }),
  },
  {
    id: 'F5',
    title: 'a browser is killed',
    spares: BOTH,
    isShort: true,
    run: (context) =>
      again(context, context.isShort ? 2 : 5, async () => {
        const victim = await busyRenderer(context);
        send(await browserIn(context, victim), 'SIGKILL');
        context.say(`killed the browser of ${victim.name}`);
      }),
  },
  {
    id: 'F6',
    title: 'a process of a browser is killed: a page, the GPU, a service',
    spares: BOTH,
    run: (context) =>
      again(context, context.isShort ? 2 : 6, async () => {
        const victim = await busyRenderer(context);
        const browser = await browserIn(context, victim);
        const type = context.chance.pick(['renderer', 'renderer', 'gpu-process', 'utility']);
        const children = await childrenOf(context.system.folder, browser, type);
        if (children.length > 0) send(context.chance.pick(children), 'SIGKILL');
        context.say(`killed a ${type} (one of ${children.length}) of ${victim.name}`);
      }),
  },
  {
    id: 'F7',
    title: 'a renderer is paused',
    spares: BOTH,
    async run(context) {
      for (const count of context.isShort ? [8] : [8, 20, 60]) {
        const victim = await busyRenderer(context);
        context.say(`${victim.name} is paused for ${count} s`);
        await pauseFor(victim.pid() ?? 0, count);
        await seconds(2);
      }
    },
  },
  {
    id: 'F8',
    title: 'a browser hangs',
    spares: BOTH,
    async run(context) {
      const victim = await busyRenderer(context);
      const browser = await browserIn(context, victim);
      send(browser, 'SIGSTOP');
      context.say(`the browser of ${victim.name} hangs, for ever`);
      // It stays paused: the renderer must notice and replace it.
      await eventually(async () => (await browserOf(context.system.folder, victim.pid())) !== browser, 60_000).catch(
        () => {
          context.journal.breach('O5', `${victim.name} still has the browser that hangs`);
          send(browser, 'SIGKILL');
        },
      );
    },
  },
  {
    id: 'F33',
    title: 'two rollouts within one document',
    spares: BOTH,
    run: (context) =>
      again(context, context.isShort ? 1 : 3, async () => {
        for (let rollout = 0; rollout < 2; rollout += 1) {
          const victim = await busyRenderer(context);
          victim.signal('SIGTERM');
          context.say(`${victim.name} was asked to stop`);
          await victim.ready();
        }
      }),
  },
];

async function again({ chance }: FaultContext, times: number, act: () => Promise<void>) {
  for (let time = 0; time < times; time += 1) {
    await act();
    await seconds(0.5 + chance.next());
  }
}

/** Gives the renderers a heavy document and waits until one has started it. */
async function busyRenderer(context: FaultContext): Promise<KeptService> {
  const { system, load, accounts, chance } = context;
  await Promise.all(system.renderers.map((renderer) => renderer.ready()));
  const account = chance.pick(accounts);
  const heavy = documentOf(account.mark, `TK${chance.whole(1e9, 9e9)}`, HEAVY_LINES);
  void load.ask({ account, kind: 'documents', method: 'POST', path: '/api/tools/generate-pdf', body: heavy });
  const queue = `${system.workspace.redisPrefix}:render-document`;
  const found = await eventually(async () => {
    for (const id of (await system.redis.command('LRANGE', `${queue}:active`, '0', '-1')) as string[]) {
      // A worker's name has its host and process.
      const worker = String((await system.redis.command('HGET', `${queue}:${id}`, 'pb')) ?? '');
      const busy = system.renderers.find(({ pid }) => worker.endsWith(`/${pid()}`));
      if (busy) return busy;
    }
    return undefined;
  }, 10_000).catch(() => undefined);
  return found ?? anyOf(system.renderers, chance);
}

async function browserIn({ system }: FaultContext, renderer: KeptService): Promise<number> {
  return await eventually(() => browserOf(system.folder, renderer.pid()));
}
