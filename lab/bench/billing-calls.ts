// Calls of the benchmark of the billing core, and how long they take.
import { median } from 'es-toolkit/math/median';
import type { BillingAccount } from './billing-data.ts';
import type { ServerProcess } from './server-process.ts';

/** @param refused the status of the error that is wanted. @returns how long it took, in milliseconds. @throws when the response is another one. */
export async function call(
  { url }: ServerProcess,
  { key }: BillingAccount,
  path: string,
  body?: object,
  refused?: number,
): Promise<number> {
  const begun = performance.now();
  const response = await fetch(`${url}/api/v1/${path}`, {
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  if (refused ? response.status !== refused : !response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return performance.now() - begun;
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** One of ours and one of the floor in turn, so that other work on the machine falls on both. @returns their medians. */
export async function inTurn(
  { warming, count }: { warming: number; count: number },
  sides: { ours: (round: number) => Promise<number>; floor: (round: number) => Promise<number> },
): Promise<[number, number]> {
  const ours: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < warming + count; round += 1) {
    const pair = [await sides.ours(round), await sides.floor(round)] as const;
    if (round < warming) continue;
    ours.push(pair[0]);
    floor.push(pair[1]);
  }
  return [median(ours), median(floor)];
}
