// Puts the table of routes on a router of express for each resource, and rejects methods that a path does not have.
import { type RequestHandler, Router } from 'express';
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

/** A router compares a path with each of its routes in turn, and most of all routes are of other resources. */
export function serveRoutes(routes: readonly Route[], options: ServeOptions): RequestHandler {
  const routers = new Map<string, Router>();
  const capacity = { bodies: openByteCapacity(), responses: options.responses ?? openResponseCapacity() };
  const shared = {
    capacity,
    bodyLimit: openFairLimit(1),
    requestFairShare: openRequestFairShare(),
  };
  for (const [path, rows] of byPath(routes)) {
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    const resource = resourcePath(path);
    const router = routers.get(resource) ?? Router({ caseSensitive: true });
    routers.set(resource, router);
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
  return (request, response, next) => {
    const router = routers.get(resourcePath(request.path));
    return router ? router(request, response, next) : next();
  };
}

/** Returns the beginning of a path that names its resource, such as `/api/v1/invoices`. */
function resourcePath(path: string): string {
  return path.split('/', 4).join('/');
}

/** @throws when no single read shows what a caller could name in `If-Match`. */
function singleReadOf(row: Route, routes: readonly Route[]): Route {
  const readOf = (path: string) => routes.find((other) => other.path === path && other.read);
  // A part of a record that is replaced as a whole has a tag of its own.
  const single = readOf(row.path) ?? readOf(recordPath(row));
  if (!single) throw new Error(`${row.operation} changes a record that no singleRead of ${recordPath(row)} reads`);
  return single;
}

/** Paths without parameters first: `/webhooks/doctor` is no webhook called `doctor`, whatever the method. */
function byPath(routes: readonly Route[]): [string, Route[]][] {
  const paths = Map.groupBy(routes, ({ path }) => path);
  return [...paths].toSorted(([one], [other]) => Number(one.includes('{')) - Number(other.includes('{')));
}
