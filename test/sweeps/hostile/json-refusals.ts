// Checks of a rejection, and the choice of a part of a long list.
import { expect } from '@jest/globals';
import type { Reply } from '../../support/gateway.ts';

/** 4xx in the specification's envelope, and no internals of the service. */
export function expectRefusal({ status, body }: Reply, what: string): void {
  const names = Object.keys(body);
  expect([what, status >= 400 && status < 500, typeof body.error, status]).toEqual([what, true, 'string', status]);
  expect([what, names.filter((name) => !['error', 'details', 'code', 'params', 'problems'].includes(name))]).toEqual([
    what,
    [],
  ]);
  expect([what, /node_modules|\.ts:\d|at Object|Mongo|E11000/.test(JSON.stringify(body))]).toEqual([what, false]);
}

/** Takes every `step`-th, so that the short form still covers a long list. */
export function every<Item>(items: readonly Item[], step: number, shift: number): Item[] {
  return items.filter((_item, index) => (index + shift) % step === 0);
}
