// Between its fan-out and its last call an event is read once, however many wait in front of it, and bodies do not fill the memory.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Id, newId, storedId } from '#libs/models/tenant.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { openEventReader } from '../../../services/webhooks/event-reader.ts';
import { AHEAD_MAX } from '../../../services/webhooks/relay-events.ts';
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

async function found(ids: Id[], read: (id: Id) => Promise<unknown>) {
  return (await Promise.all(ids.map((id) => read(id)))).filter((event) => event !== undefined);
}

test('when as many events were read as may wait, then all are recalled without the database', async () => {
  const { ids, forget } = await someEvents(AHEAD_MAX, '{}');
  const events = openEventReader();
  await found(ids, events.read);
  await forget();

  expect(await found(ids, events.recall)).toHaveLength(AHEAD_MAX);
});

test('when bodies are large, then only the last ones are kept', async () => {
  const { ids, forget } = await someEvents(6, 'x'.repeat(4 * MEGABYTE));
  const events = openEventReader();
  for (const id of ids) await events.read(id);
  await forget();

  expect(await found(ids, events.recall)).toHaveLength(4);
  expect(await found(ids.slice(0, 2), events.recall)).toEqual([]);
});
