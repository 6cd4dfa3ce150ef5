// The table of every operation, for tests that go through all of them.
import type { Route } from '../../services/gateway/http/route.ts';
import { routes } from '../../services/gateway/routes.ts';

export const routeTable: readonly Route[] = routes;

/** The parameters a route takes in its query. */
export function parametersOf({ query }: Route): Record<string, { allow?: unknown[] }> {
  return (query?.describe()['keys'] ?? {}) as Record<string, { allow?: unknown[] }>;
}
