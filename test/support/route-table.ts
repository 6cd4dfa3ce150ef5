// The table of every operation, for tests that go through all of them.
import { routesOf } from '../../services/gateway/app.ts';
import type { Route } from '../../services/gateway/http/route.ts';

/** Only to be looked at: its webhook operations cannot be called. */
export const routeTable: readonly Route[] = routesOf({
  outbound: undefined as never,
  box: undefined as never,
  nudge: () => undefined,
});

/** The parameters a route takes in its query. */
export function parametersOf({ query }: Route): Record<string, { allow?: unknown[] }> {
  return (query?.describe()['keys'] ?? {}) as Record<string, { allow?: unknown[] }>;
}
