// The table of every operation, and joi's description of what each takes, for tests that go through all of them.
import { memoize } from 'es-toolkit/function/memoize';
import type { Route } from '../../services/gateway/http/route.ts';
import { routes } from '../../services/gateway/routes.ts';

export const routeTable: readonly Route[] = routes;

/** The part of joi's description of a schema that the tests use. */
export interface Shape {
  type: string;
  flags?: { presence?: string; only?: boolean };
  rules?: { name: string; args?: { limit?: number; regex?: string } }[];
  allow?: unknown[];
  keys?: Record<string, Shape>;
  items?: Shape[];
  examples?: object[];
}

/** A description takes milliseconds, and some tests need one for each of thousands of bodies. */
const shapeOf = memoize((schema: Route['body'] | Route['query']): Shape => {
  return schema ? (schema.describe() as Shape) : { type: 'none' };
});

export function bodyShapeOf(route: Route): Shape {
  return shapeOf(route.body);
}

/** The fields of a body; none without a body. */
export function fieldsOf(route: Route): Record<string, Shape> {
  return bodyShapeOf(route).keys ?? {};
}

/** The parameters a route takes in its query. */
export function parametersOf(route: Route): Record<string, Shape> {
  return shapeOf(route.query).keys ?? {};
}
