// The operations of the OpenAPI document with the example of each body.
import type { OpenApi } from '../../services/gateway/reference/openapi.ts';

export interface Example {
  method: string;
  path: string;
  operation: string;
  body: unknown;
}

/** Reads and changes first, then deletions (a record before those that it refers to, and after what is below it), then creates. */
const ORDER = { get: 0, patch: 1, put: 1, delete: 2, post: 3 } as const;

export function examplesOf({ paths, components }: OpenApi): Example[] {
  const examples = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, requestBody }]) => {
      const { content } = (requestBody ?? {}) as { content?: Record<string, { schema: { $ref: string } }> };
      const name = content?.['application/json']?.schema.$ref.split('/').at(-1) ?? '';
      const { examples } = (components.schemas[name] ?? {}) as { examples?: unknown[] };
      return { method, path, operation: operationId, body: examples?.[0] };
    }),
  );
  const orderOf = ({ method }: Example) => ORDER[method as keyof typeof ORDER];
  const byResource = ['time-entries', 'tasks', 'invoices', 'quotes', 'projects', 'clients'];
  const rank = ({ path }: Example) => byResource.findIndex((name) => path.includes(name));
  const depth = ({ path }: Example) => path.split('/').length;
  return examples.toSorted(
    (a, b) => orderOf(a) - orderOf(b) || (orderOf(a) === ORDER.delete ? rank(a) - rank(b) || depth(b) - depth(a) : 0),
  );
}
