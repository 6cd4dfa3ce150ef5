// A trailing slash makes no difference on any route.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { filledPath } from '../../support/operations.ts';
import { UNKNOWN_ID } from '../../support/records.ts';
import { routeTable } from '../../support/route-table.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Returns the part of a response that two calls of an operation share: those that make a record make two. */
function shown({ status, body }: { status: number; body: { data?: object } }) {
  return status === 201 ? [status, Object.keys(body.data ?? {})] : [status, body];
}

test.each(sampled(routeTable).map((row) => [row.operation, row] as const))(
  'when %s is called with a trailing slash, then the response is the same as without',
  async (_operation, row) => {
    const path = filledPath(row.path, UNKNOWN_ID);
    const method = row.method.toUpperCase();
    const without = await gateway.call(method, path, { body: row.body ? {} : undefined });
    const slash = await gateway.call(method, `${path}/`, { body: row.body ? {} : undefined });

    expect(shown(slash)).toEqual(shown(without));
    const absent = routeTable.some((other) => other.path === row.path && other.method === 'put') ? 'PATCH' : 'PUT';
    expect((await gateway.call(absent, `${path}/`)).status).toBe(405);
    expect((await gateway.call(method, `${path}//`)).status).toBe(404);
  },
);

test('when the reference is requested with a trailing slash, then it is served', async () => {
  for (const path of ['/docs/', '/openapi.json/'])
    expect([path, (await gateway.get(path)).status]).toEqual([path, 200]);
});
