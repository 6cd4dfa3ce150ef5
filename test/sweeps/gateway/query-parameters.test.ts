// Every operation rejects unknown and repeated query parameters by name.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, filledPath, kindOf, make, namesRecord, neededQuery, withNeeded } from '../../support/operations.ts';
import { createClient } from '../../support/records.ts';
import { parametersOf, routeTable } from '../../support/route-table.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const inForm = (form: 'list' | 'by-field' | undefined, problems: Record<string, string>) =>
  form === 'list'
    ? Object.values(problems)
    : Object.fromEntries(Object.entries(problems).map(([name, message]) => [name, [message]]));

test.each(sampled(routeTable).map((row) => [row.operation, row] as const))(
  'when %s gets parameters it does not know, then 400 names all of them and nothing is done',
  async (operation, row) => {
    const id = namesRecord(row.path) ? await make(gateway, kindOf(row.path), gateway.account, 'own-') : '';
    const body = await bodyFor(gateway, operation, gateway.account);
    const path = filledPath(row.path, id).replace(/\{\w+\}/, '1');
    const known = Object.keys(parametersOf(row)).slice(0, 1);
    const repeated = known.map((name) => `&${name}=1&${name}=2`).join('');
    const others = `page=2&clinet_id=x&page=3${repeated}`;
    const query = withNeeded(others, await neededQuery(gateway, operation, gateway.account));
    const reply = await gateway.call(row.method.toUpperCase(), `${path}?${query}`, { body });

    const details = inForm(row.details, {
      page: 'page is not known to this operation',
      clinet_id: 'clinet_id is not known to this operation',
      ...Object.fromEntries(known.map((name) => [name, `${name} must not be repeated`])),
    });
    expect([reply.status, reply.body]).toEqual([400, expect.objectContaining({ error: 'Validation failed', details })]);
    if (row.method === 'delete') expect((await gateway.delete(path)).status).toBe(200);
  },
);

test('when a list does not have the requested filter, then 400 instead of the records of all clients', async () => {
  const { id } = await createClient(gateway);
  const reply = await gateway.get(`/api/v1/time-entries?client=${id}`);

  expect([reply.status, reply.body.details]).toEqual([400, { client: ['client is not known to this operation'] }]);
});

test('when a query holds thousands of parameters, then 400 is short and carries no Link', async () => {
  const reply = await gateway.get(
    `/api/v1/clients?limit=1&offset=1&${Array.from({ length: 1_500 }, (_, n) => `a${n}=1`).join('&')}`,
  );

  expect([reply.status, reply.body.details]).toEqual([400, { query: ['query must hold at most 100 parameters'] }]);
  expect(reply.headers.get('link')).toBeNull();
});

test('when a page is requested with empty parameters, then Link repeats only those of the operation', async () => {
  await createClient(gateway, { name: 'Linked' });
  const reply = await gateway.get(`/api/v1/clients?limit=1&q=Linked&${'&'.repeat(3_000)}`);

  expect(reply.status).toBe(200);
  expect(reply.headers.get('link')).toBe(
    ['first', 'last'].map((rel) => `</api/v1/clients?limit=1&q=Linked&offset=0>; rel="${rel}"`).join(', '),
  );
});
