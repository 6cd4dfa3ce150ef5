// The follow-ups of each week: announced once on Monday in the time zone of the account, in numbers, and only if there is something.
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { nextMonday } from '#libs/billing/follow-ups/announce-follow-ups.ts';
import { addDays, dayIn, startOfDay } from '#libs/day.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { RoundTry } from '#libs/models/operations/round-try.ts';
import { Event, type EventRecord } from '#libs/models/webhooks/event.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type OwnAccount, openOwnAccount } from '../../support/own-account.ts';
import { plansOf } from '../../support/plans.ts';
import { announceAllFollowUps } from '../../support/rounds.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
afterEach(() => RoundTry.collection.deleteMany({}));

const ZONE = 'Pacific/Honolulu';
const MONDAY = dayIn(ZONE, nextMonday(ZONE, new Date()));
/** The first instant of a Monday in the zone. @param weeks after the next one. */
const monday = (weeks = 0) => startOfDay(ZONE, addDays(MONDAY, 7 * weeks));
const before = (time: Date) => new Date(time.getTime() - 1);

/** Opens an account that was looked at for the first time. @param owes true for one with something to follow up. */
async function looked({ owes = true } = {}): Promise<OwnAccount> {
  const me = await openOwnAccount(gateway, { time_zone: ZONE, currency: 'EUR' });
  const { id: client_id } = await me.post('clients', { name: 'Ada Lovelace', email: 'ada@engines.example' });
  if (owes) await me.post('payments', { client_id, amount: 40 });
  await announceAllFollowUps();
  return me;
}

async function announced({ id }: OwnAccount) {
  const events = await Event.find({ account_id: id, type: 'report.follow_ups' })
    .sort({ sequence: 1 })
    .lean<EventRecord[]>();
  return events.map(({ body }) => JSON.parse(body).data);
}

const markOf = async ({ id }: OwnAccount) => (await Account.findById(id).lean())?.follow_ups_due_at;

test('when Monday begins in the zone of the account, then what was forgotten is announced once, however many schedulers look', async () => {
  const me = await looked();
  expect(await markOf(me)).toEqual(monday());
  await announceAllFollowUps(before(monday()));
  expect(await announced(me)).toEqual([]);

  await Promise.all([1, 2, 3, 4].map(() => announceAllFollowUps(monday())));
  await announceAllFollowUps(before(monday(1)));
  const [event, ...others] = await announced(me);
  const amounts = [{ currency: 'EUR', amount: 40 }];
  const follow_ups = [{ kind: 'unallocated_payments', count: 1, has_more: false, amounts, oldest: expect.any(String) }];
  expect([event, others]).toEqual([{ as_of: MONDAY, follow_ups }, []]);

  await announceAllFollowUps(monday(1));
  expect((await announced(me)).map(({ as_of }) => as_of)).toEqual([MONDAY, addDays(MONDAY, 7)]);
});

test('when nothing was forgotten, then nothing is announced, and the next look is a week later', async () => {
  const me = await looked({ owes: false });
  await announceAllFollowUps(monday());
  expect([await announced(me), await markOf(me)]).toEqual([[], monday(1)]);
});

test('when the account moves to a zone in which Monday begins later, then it is announced once, on that Monday', async () => {
  const me = await looked();
  const [early, due] = ['Pacific/Kiritimati', ZONE].map((zone) => startOfDay(zone, MONDAY)) as [Date, Date];
  await Account.updateOne({ _id: me.id }, { follow_ups_due_at: early });
  await announceAllFollowUps(early);
  expect([await announced(me), await markOf(me)]).toEqual([[], due]);
  await announceAllFollowUps(due);
  expect((await announced(me)).map(({ as_of }) => as_of)).toEqual([MONDAY]);
});

test('when no scheduler ran for weeks, then it is announced once, and goes on with the next Monday', async () => {
  const me = await looked();
  await announceAllFollowUps(new Date(monday(3).getTime() + 3_600_000));
  expect([(await announced(me)).length, await markOf(me)]).toEqual([1, monday(4)]);
});

test('when it is announced, then neither the account nor its records seem changed, and the event names no client and no record', async () => {
  const me = await looked();
  const account = await me.get('account');
  await announceAllFollowUps(monday());
  expect(await me.get('account')).toEqual(account);
  const [client] = await me.get('clients');
  const [event] = await announced(me);
  for (const secret of [
    client.id,
    client.name,
    client.email,
    ...(await me.get('payments')).map(({ id }: { id: string }) => id),
  ])
    expect(JSON.stringify(event)).not.toContain(secret);
});

test('when the look at one account always fails, then others are announced, and it is set aside at the third try', async () => {
  const [broken, sound] = [await looked(), await looked()];
  // No version of the API stores this value.
  await Account.updateOne({ _id: broken.id }, { time_zone: 'Mars/Olympus' });
  for (let round = 0; round < 3; round += 1) {
    const failed = announceAllFollowUps(new Date(monday().getTime() + round * 60_000));
    await expect(failed).rejects.toThrow('the follow-ups of 1 accounts could not be announced');
  }
  expect([await announced(broken), (await announced(sound)).length]).toEqual([[], 1]);
  expect(await announceAllFollowUps(new Date(monday().getTime() + 180_000))).toEqual({ written: 0, hasMore: false });
  await Account.updateOne({ _id: broken.id }, { time_zone: ZONE });
  await announceAllFollowUps(new Date(monday().getTime() + 25 * 3_600_000));
  expect(await announced(broken)).toHaveLength(1);
});

test('when more accounts are set aside than a round takes, then they keep no other from being announced', async () => {
  const me = await looked();
  const [at, earlier, later] = [1, -1, 0.5].map((hours) => new Date(monday().getTime() + hours * 3_600_000));
  const broken = await Account.insertMany(
    Array.from({ length: 160 }, (_none, index) => ({
      name: `Broken ${index}`,
      time_zone: 'Mars/Olympus',
      follow_ups_due_at: index < 100 ? earlier : later,
    })),
  );
  const tries = { round: 'follow-ups', tries: 2, tried_at: at, retry_at: monday(1) };
  const setAside = broken.map(({ _id }) => ({ _id: `follow-ups/${_id}`, account_id: _id, record_id: _id, ...tries }));
  await RoundTry.collection.insertMany(setAside as never);

  await announceAllFollowUps(at);
  await announceAllFollowUps(at);

  expect(await announced(me)).toHaveLength(1);
  await Account.deleteMany({ _id: { $in: broken.map(({ _id }) => _id) } });
});

test('when more accounts are due than a round takes, then it says so, and rounds take all of them', async () => {
  await announceAllFollowUps(monday());
  const names = Array.from({ length: 250 }, (_none, index) => ({ name: `Studio ${index}` }));
  const made = await Account.insertMany(names);
  const left = () => Account.countDocuments({ _id: { $in: made.map(({ _id }) => _id) }, follow_ups_due_at: null });
  const counts = [];
  for (let hasMore = true; hasMore; counts.push(await left())) ({ hasMore } = await announceAllFollowUps(monday()));
  expect(counts[0]).toBeGreaterThanOrEqual(100);
  expect(counts.at(-1)).toBe(0);
  const plans = await plansOf('accounts', () => announceAllFollowUps(monday()));
  const [look] = plans.filter(({ command }) => command === 'find');
  expect(look).toMatchObject({ isByIndex: true, hasSortStage: false, docsExamined: 0 });
});
