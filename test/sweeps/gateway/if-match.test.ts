// `If-Match` on every operation on a record: it changes the record that the caller has read, or nothing.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { honoursIfMatch, isList, recordPath } from '../../../services/gateway/http/route.ts';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, filledPath, kindOf, make } from '../../support/operations.ts';
import { routeTable } from '../../support/route-table.ts';

const OTHER = '"the tag of another state"';
const changes = routeTable.filter(honoursIfMatch);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('when an operation changes a record, or what a GET of its path shows with an ETag, then it is among these', () => {
  const isTagged = (path: string) =>
    routeTable.some((row) => row.method === 'get' && row.path === path && !isList(row));
  const onRecords = routeTable.filter(({ method, path }) => {
    return method !== 'get' && (path.includes('{id}') || isTagged(path));
  });

  expect(changes.map(({ operation }) => operation)).toEqual(
    expect.arrayContaining(onRecords.map(({ operation }) => operation)),
  );
  expect(changes.some(({ method }) => method === 'post')).toBe(true);
});

test('when an operation replaces what the GET of its path shows, then it takes the tag of that', () => {
  const replaced = changes.filter(({ method }) => method === 'put').map(({ path }) => path);
  const read = routeTable.filter((row) => row.read).map(({ path }) => path);

  expect(replaced.length).toBeGreaterThan(0);
  expect(read).toEqual(expect.arrayContaining(replaced));
});

test.each(sampled(changes).map((row) => [row.operation, row] as const))(
  'when %s names another state of the record, then 412 and nothing is changed, and with the state of now it is done',
  async (operation, row) => {
    const id = row.path.includes('{id}') ? await make(gateway, kindOf(row.path), gateway.account, 'own-') : '';
    const body = await bodyFor(gateway, operation, gateway.account);
    const isOwn = routeTable.some(({ path, read }) => path === row.path && read);
    const single = filledPath(isOwn ? row.path : recordPath(row), id);
    const send = (tag: string) =>
      gateway.call(row.method.toUpperCase(), filledPath(row.path, id), { body, headers: { 'If-Match': tag } });
    // The settings of an account are not there before they are set.
    if (row.method === 'put') await gateway.call('PUT', filledPath(row.path, id), { body });
    const before = await gateway.get(single);
    const events = await eventsNow();
    const refused = await send(OTHER);
    const after = await gateway.get(single);

    expect([refused.status, refused.body.error]).toEqual([
      412,
      'The record has changed: If-Match does not match its ETag',
    ]);
    expect(after.body).toEqual(before.body);
    expect(await eventsNow()).toBe(events);
    expect((await send(String(before.headers.get('ETag')))).status).toBeLessThan(300);
  },
);

test('when a dry run names another state of the record, then 412 as well', async () => {
  const id = await make(gateway, 'sent-invoices', gateway.account, 'own-');
  const options = { body: {}, headers: { 'If-Match': OTHER } };

  expect((await gateway.call('POST', `/api/v1/invoices/${id}/payments?dry_run=true`, options)).status).toBe(412);
});

async function eventsNow(): Promise<number> {
  return (await gateway.get('/api/v1/events?limit=1')).body.pagination.total;
}
