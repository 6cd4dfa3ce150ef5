// Puts the table of routes on an express router, and rejects methods that a path does not have.
import { Router } from 'express';
import { appError } from '#libs/errors.ts';
import { openFairLimit } from '#libs/fair-limit.ts';
import { type ByteCapacity, openByteCapacity } from '#libs/http/byte-capacity.ts';
import { openResponseCapacity } from '../limits/large-responses.ts';
import { openRequestFairShare } from '../limits/request-fair-share.ts';
import { type HandleOptions, requestHandler } from './handle-request.ts';
import { honoursIfMatch, type Route, recordPath } from './route.ts';

export interface ServeOptions extends Omit<HandleOptions, 'capacity' | 'single' | 'bodyLimit' | 'requestFairShare'> {
  /** Capacity for the bytes of responses that wait to be read. */
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
    for (const row of rows) {
      const single = honoursIfMatch(row) ? singleReadOf(row, routes) : undefined;
      router[row.method](pattern, requestHandler(row, { ...options, ...shared, single }));
    }
    const methods = rows.map(({ method }) => method.toUpperCase());
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
    router.all(pattern, () => {
      throw appError('method_not_allowed', undefined, { headers: { Allow: allow } });
    });
  }
  return router;
}

/** @throws when no single read shows what a caller could name in `If-Match`. */
function singleReadOf(row: Route, routes: readonly Route[]): Route {
  const path = recordPath(row);
  const single = routes.find((other) => other.path === path && other.read);
  if (!single) throw new Error(`${row.operation} changes a record that no singleRead of ${path} reads`);
  return single;
}

/** Paths without parameters first: `/webhooks/doctor` is no webhook called `doctor`, whatever the method. */
function byPath(routes: readonly Route[]): [string, Route[]][] {
  const paths = Map.groupBy(routes, ({ path }) => path);
  return [...paths].toSorted(([one], [other]) => Number(one.includes('{')) - Number(other.includes('{')));
}
