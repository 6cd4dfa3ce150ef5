// Checks the rejection of a request. The sweeps check hundreds of thousands, so each takes one expectation.
import { expect } from '@jest/globals';
import type { Reply } from './gateway.ts';

const NAMES = ['error', 'details', 'code', 'params', 'problems'];

/** 4xx in the specification's envelope, and no internals of the service. @param what names the request. */
export function expectRefusal({ status, body }: Reply, what: string): void {
  expect({
    what,
    isRefused: status >= 400 && status < 500 ? true : status,
    error: typeof body.error,
    otherNames: Object.keys(body).filter((name) => !NAMES.includes(name)),
    internals: /node_modules|\.ts:\d|at Object|Mongo|E11000/.exec(JSON.stringify(body))?.[0],
  }).toEqual({ what, isRefused: true, error: 'string', otherNames: [], internals: undefined });
}
