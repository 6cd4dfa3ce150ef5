// A new primary that does not know yet all that its predecessor acknowledged: nobody is told that a stored record is not there.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { readAcknowledged } from '#libs/mongo-primary.ts';
import type { Member } from '../faults/replica-set.ts';
import { eventually } from '../support/eventually.ts';
import { type OwnSet, openOwnSet } from '../support/own-set.ts';
import { spawnGateway } from '../support/spawn-gateway.ts';

const LIMIT_MS = 180_000;
/** A wrong answer is there in a few milliseconds. */
const QUIET_MS = 500;

let own: OwnSet | undefined; // Both are absent when they did not start.
let gateway: Awaited<ReturnType<typeof spawnGateway>> | undefined;
let members: Member[];
let next: Member;

beforeAll(async () => {
  own = await openOwnSet('new-primary');
  members = own.set.members;
  gateway = await spawnGateway(own.workspace, (await own.workspace.account()).key);
}, LIMIT_MS);
afterAll(async () => {
  await gateway?.stop();
  await own?.close();
}, LIMIT_MS);

beforeEach(async () => {
  const primary = await own?.set.primary();
  next = members.find((member) => member !== primary) as Member;
});
afterEach(async () => {
  for (const member of members) await noticeMajority(member, true);
});

const send = (...call: Parameters<NonNullable<typeof gateway>['send']>) =>
  (gateway as NonNullable<typeof gateway>).send(...call);

/** The server's own switch for tests: what a majority has is not noticed any more. */
async function noticeMajority(member: Member, isOn: boolean) {
  await member.command({ configureFailPoint: 'disableSnapshotting', mode: isOn ? 'off' : 'alwaysOn' });
}

async function elect(member: Member) {
  await eventually(async () => {
    await member.command({ replSetStepUp: 1 }).catch(() => undefined);
    return (await own?.set.primary()) === member;
  });
}

const ada = { name: 'Ada', email: 'ada@example.com' };

test(
  'when a new primary has not noticed yet what was stored, then what was acknowledged is read once it has',
  async () => {
    await noticeMajority(next, false);
    const headers = { 'Idempotency-Key': randomUUID() };
    const created = await send('POST', '/api/v1/clients', { body: ada, headers });
    const { key } = (await send('POST', '/api/v1/keys', { body: { name: 'new', scopes: ['clients:read'] } })).body.data;
    const path = `/api/v1/clients/${created.body.data.id}`;

    await elect(next);
    let answers = 0;
    const calls = [
      send('GET', path),
      send('GET', path, { key }),
      send('GET', '/api/v1/clients'),
      send('POST', '/api/v1/clients', { body: ada, headers }),
    ].map((call) =>
      call.finally(() => {
        answers += 1;
      }),
    );
    await pause(QUIET_MS);
    const early = answers;
    await noticeMajority(next, true);
    const [read, withNewKey, list, again] = await Promise.all(calls);

    expect(read).toMatchObject({ status: 200, body: { data: { name: 'Ada' } } });
    expect(withNewKey?.status).toBe(200);
    expect(list?.body.data).toMatchObject([{ id: created.body.data.id }]);
    expect(again).toMatchObject({ status: 201, body: created.body });
    expect(early).toBe(0);
  },
  LIMIT_MS,
);

test(
  'when a new primary does not get to know it for long, then 503 and when to come again',
  async () => {
    await noticeMajority(next, false);
    const created = await send('POST', '/api/v1/clients', { body: ada });

    await elect(next);
    const read = await send('GET', `/api/v1/clients/${created.body.data.id}`);

    expect(read).toMatchObject({ status: 503, body: { error: 'The service is temporarily unavailable' } });
    expect(read.headers.get('retry-after')).toBe('1');
  },
  LIMIT_MS,
);

test.each([
  ['and nothing has gone out, then it is read once more', false, 2],
  ['and it has gone out, then that was it', true, 1],
])(
  'when the primary changes while something is read %s',
  async (_case, isFinal, times) => {
    let count = 0;
    const read = async () => {
      count += 1;
      if (count === 1) {
        await elect(next);
        await driverKnows(next);
      }
      return count;
    };

    expect(await readAcknowledged(read, () => isFinal)).toBe(times);
  },
  LIMIT_MS,
);

async function driverKnows(member: Member) {
  const { me } = await member.command({ hello: 1 });
  await eventually(async () => {
    const hello = await mongoose.connection.db?.command({ hello: 1 });
    return hello?.['me'] === me && hello?.['isWritablePrimary'];
  });
}
