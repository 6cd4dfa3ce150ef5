// The receivers of webhooks: one server that behaves differently by path and records every call.
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { answer, type Received, startReceiver } from '../../receiver.ts';

/** `flaky` refuses the first call of some events; `sick` refuses everything while the town is unwell. */
export type Behaviour = 'good' | 'flaky' | 'sick';

export interface Town {
  url: string;
  /** Calls that were answered with 2xx, by path. */
  taken: Map<string, Received[]>;
  /** Returns the number of all calls, with any result. */
  calls(): number;
  isUnwell: boolean;
  /** Runs when the next call comes: before it is answered, or right after. */
  onNextCall(when: 'before' | 'after', act: () => void): void;
  /** Forgets the calls to these paths. */
  forget(paths: readonly string[]): void;
  close(): Promise<void>;
}

const FLAKY_SHARE = 0.3;

export async function openTown(): Promise<Town> {
  const taken = new Map<string, Received[]>();
  const refusedOnce = new Set<string>();
  const acts: { when: 'before' | 'after'; act: () => void }[] = [];
  let calls = 0;

  const server = await startReceiver((call, response) => {
    calls += 1;
    server.received.length = 0; // Ours are kept by path.
    const act = acts.shift();
    if (act?.when === 'before') act.act();
    if (isRefused(call)) return refuse(response);
    const soFar = taken.get(call.path);
    if (soFar) soFar.push(call);
    else taken.set(call.path, [call]);
    if (act?.when === 'after') response.once('finish', act.act);
    answer(response, 204);
  });

  function isRefused({ path, id }: Received): boolean {
    const behaviour = path.split('/')[2] as Behaviour;
    if (behaviour === 'sick') return town.isUnwell;
    const name = `${path} ${id}`;
    if (behaviour !== 'flaky' || shareOf(name) > FLAKY_SHARE || refusedOnce.has(name)) return false;
    refusedOnce.add(name);
    return true;
  }

  const town: Town = {
    url: server.url.replace(/\/hook$/, ''),
    taken,
    calls: () => calls,
    isUnwell: false,
    onNextCall: (when, act) => void acts.push({ when, act }),
    forget(paths) {
      for (const path of paths) taken.delete(path);
      refusedOnce.clear();
    },
    close: () => server.close(),
  };
  return town;
}

function refuse(response: ServerResponse) {
  answer(response, 503);
}

/** 0 to 1, the same for the same name. */
function shareOf(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE() / 2 ** 32;
}
