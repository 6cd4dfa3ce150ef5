// Puts the table of routes on an express router, and rejects methods that a path does not have.
import { Router } from 'express';
import { AppError } from '#libs/errors.ts';
import { openFairLimit } from '#libs/fair-limit.ts';
import { type ByteCapacity, openByteCapacity } from '../limits/byte-capacity.ts';
import { openResponseCapacity } from '../limits/large-responses.ts';
import { openRequestFairShare } from '../limits/request-fair-share.ts';
import { type HandleOptions, requestHandler } from './handle-request.ts';
import type { Route } from './route.ts';

export interface ServeOptions extends Omit<HandleOptions, 'capacity' | 'bodyLimit' | 'requestFairShare'> {
  /** For the bytes of responses that wait to be read. */
  responses?: ByteCapacity | undefined;
}

export function serveRoutes(routes: readonly Route[], options: ServeOptions): Router {
  const router = Router({ caseSensitive: true });
  const capacity = { bodies: openByteCapacity(), responses: options.responses ?? openResponseCapacity() };
  const shared = {
    capacity,
    bodyLimit: openFairLimit(1),
    requestFairShare: openRequestFairShare(),
  };
  for (const [path, rows] of byPath(routes)) {
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    for (const row of rows) router[row.method](pattern, requestHandler(row, { ...options, ...shared }));
    const methods = rows.map(({ method }) => method.toUpperCase());
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
    router.all(pattern, () => {
      throw new AppError(405, 'Method not allowed', { headers: { Allow: allow } });
    });
  }
  return router;
}

/** Paths without parameters first: `/webhooks/doctor` is no webhook called `doctor`, whatever the method. */
function byPath(routes: readonly Route[]): [string, Route[]][] {
  const paths = Map.groupBy(routes, ({ path }) => path);
  return [...paths].toSorted(([one], [other]) => Number(one.includes('{')) - Number(other.includes('{')));
}
