// Between its fan-out and its last call an event is read once, however long the queue is, and the cache of bodies is bounded.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Id, newId, storedId } from '#libs/models/tenant.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { FIRST_ATTEMPTS_QUEUED_MAX } from '../../../services/webhooks/limits.ts';
import { openEventLoader } from '../../../services/webhooks/loading/event-loader.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());

const MEGABYTE = 1024 * 1024;

async function someEvents(count: number, body: string) {
  const { id: accountId } = await workspace.account();
  const ids = Array.from({ length: count }, () => newId());
  const common = { account_id: storedId(accountId), type: 'client.created', body };
  await Event.insertMany(ids.map((id, index) => ({ ...common, _id: storedId(id), sequence: index + 1 })));
  return { ids, forget: () => Event.deleteMany({ account_id: storedId(accountId) }) };
}

async function found(ids: Id[], load: (id: Id) => Promise<unknown>) {
  return (await Promise.all(ids.map((id) => load(id)))).filter((event) => event !== undefined);
}

test('when as many events were loaded as the queue may contain, then all of them come from the cache', async () => {
  const { ids, forget } = await someEvents(FIRST_ATTEMPTS_QUEUED_MAX, '{}');
  const events = openEventLoader();
  await found(ids, events.loadFresh);
  await forget();

  expect(await found(ids, events.load)).toHaveLength(FIRST_ATTEMPTS_QUEUED_MAX);
});

test('when bodies are large, then they are read only when they are asked for, and only the last ones are cached', async () => {
  const { ids, forget } = await someEvents(6, 'x'.repeat(4 * MEGABYTE));
  const events = openEventLoader();
  const heads = await Promise.all(ids.map((id) => events.loadFresh(id)));
  expect(heads.map((event) => event?.body)).toEqual(ids.map(() => undefined));
  const bodies = async (some: typeof heads) =>
    (await Promise.all(some.map(async (event) => event && events.bodyOf(event)))).filter((body) => body !== undefined);
  for (const event of heads) expect(await bodies([event])).toHaveLength(1);
  await forget();

  expect(await bodies(heads)).toHaveLength(4);
  expect(await bodies(heads.slice(0, 2))).toEqual([]);
});
