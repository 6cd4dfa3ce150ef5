// Admission of documents that wait, and the shares of accounts in the renderers. Connecting alone takes no room for long.
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { openAdmission } from '#libs/printing/admission.ts';

const limits = { perAccount: 3, waiting: 10, waitMs: 10_000 };
const NO_MORE = { code: 'too_many_waiting_documents' };

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('when more arrive at once than there is room for, then only as many as fit are admitted', () => {
  const admission = openAdmission(limits);

  const outcomes = Array.from({ length: 14 }, (_none, index) =>
    admission.reserve(`request-${index}`, `account-${index}`),
  );

  // Accounts with nothing in flight have a quarter more room.
  expect(outcomes.slice(0, 13)).toEqual(Array(13).fill(undefined));
  for (const outcome of outcomes.slice(13)) expect(outcome).toMatchObject(NO_MORE);
});

test('when requests with a reservation bring no document, then their room is free again', () => {
  const admission = openAdmission(limits);
  for (let index = 0; index < 13; index += 1) admission.reserve(`request-${index}`, `account-${index}`);
  expect(admission.reserve('one more', 'one more')).toBeDefined();

  jest.advanceTimersByTime(250);

  expect(admission.reserve('one more', 'one more')).toBeUndefined();
});

test('when a request is answered without a document, then its room is free at once', () => {
  const admission = openAdmission(limits);
  for (let index = 0; index < 30; index += 1) {
    expect(admission.reserve(`request-${index}`, `account-${index}`)).toBeUndefined();
    admission.cancelReservation(`request-${index}`);
  }
});

test('when a request with a reservation is admitted, then it has one place and not two', () => {
  const admission = openAdmission(limits);
  for (let index = 0; index < 5; index += 1) {
    admission.reserve(`request-${index}`, `account-${index}`);
    admission.admit({ accountId: `account-${index}`, requestId: `request-${index}` });
  }

  const outcomes = Array.from({ length: 9 }, (_none, index) => admission.reserve(`later-${index}`, `other-${index}`));

  expect(outcomes.slice(0, 8)).toEqual(Array(8).fill(undefined));
  expect(outcomes[8]).toMatchObject(NO_MORE);
});

test('when reservations have expired, then they keep out no document that comes without one', () => {
  const admission = openAdmission({ waiting: 10 });
  for (let index = 0; index < 13; index += 1) admission.reserve(`request-${index}`, `account-${index}`);
  expect(admission.rejection('newcomer')).toBeDefined();

  jest.advanceTimersByTime(250);

  expect(admission.rejection('newcomer')).toBeUndefined();
  expect(() => admission.admit({ accountId: 'newcomer', requestId: 'new' })).not.toThrow();
});

test('when one place is left, then the request that reserved it is not refused for its own reservation', () => {
  const admission = openAdmission({ ...limits, perAccount: 20 });
  for (let index = 0; index < 9; index += 1) admission.admit({ accountId: 'one', requestId: `request-${index}` });

  expect(admission.reserve('last', 'one')).toBeUndefined();

  expect(admission.rejection('one', 'last')).toBeUndefined();
  expect(admission.rejection('one', 'another')).toMatchObject(NO_MORE);
});

test('when an account has its share, then 429 until one of its documents is done', () => {
  const admission = openAdmission(limits);
  const enter = () => admission.admit({ accountId: 'one', requestId: 'request' });
  const [first] = [enter(), enter(), enter()];

  expect(enter).toThrow('Too many documents at the same time');
  expect(admission.rejection('one')).toMatchObject({ code: 'too_many_documents' });
  expect(admission.rejection('other')).toBeUndefined();

  first?.release('done');
  expect(admission.rejection('one')).toBeUndefined();
});

test('when documents take long, then one that would wait too long is rejected, with the time to retry', () => {
  const admission = openAdmission({ ...limits, waiting: 1_000, perAccount: 1_000 });
  const places = Array.from({ length: 20 }, (_none, index) =>
    admission.admit({ accountId: 'one', requestId: `request-${index}` }),
  );
  jest.advanceTimersByTime(11_000);

  const rejected = admission.rejection('other');
  for (const place of places.splice(0, 13)) place.release('done');

  expect(rejected).toMatchObject(NO_MORE);
  expect(rejected?.seconds).toBeGreaterThanOrEqual(11);
  // Too few wait for an estimate of the wait.
  expect(admission.rejection('other')).toBeUndefined();
});

test('when documents waited for slow images, then those behind them do not count as late', () => {
  const admission = openAdmission({ ...limits, waiting: 1_000, perAccount: 1_000 });
  const enter = (count: number) =>
    Array.from({ length: count }, (_none, index) =>
      admission.admit({ accountId: 'one', requestId: `request-${index}` }),
    );
  const slow = enter(8);
  jest.advanceTimersByTime(5_000);
  for (const place of slow) place.release('done', { offSlotMs: 5_000 });

  enter(20);

  expect(admission.rejection('other')).toBeUndefined();
});

const roomy = { ...limits, waiting: 1_000, perAccount: 1_000 };
const enterMany = (admission: ReturnType<typeof openAdmission>, count: number) =>
  Array.from({ length: count }, (_none, index) => admission.admit({ accountId: 'one', requestId: `request-${index}` }));

test('when one document is stuck while others finish, then its age does not count as the wait of other callers', () => {
  const admission = openAdmission(roomy);
  enterMany(admission, 1);
  for (let second = 0; second < 12; second += 1) {
    const others = enterMany(admission, 10);
    jest.advanceTimersByTime(1_000);
    for (const place of others) place.release('done');
  }

  enterMany(admission, 10);

  expect(admission.rejection('other')).toBeUndefined();
});

test('when some wait for slow images while others are done, then none is rejected for their age', () => {
  const admission = openAdmission(roomy);
  const slow = enterMany(admission, 10);
  jest.advanceTimersByTime(9_000);
  for (const place of enterMany(admission, 5)) place.release('done');
  jest.advanceTimersByTime(2_000);

  expect(admission.rejection('other')).toBeUndefined();

  for (const place of slow) place.release('done', { offSlotMs: 11_000 });
  expect(admission.rejection('other')).toBeUndefined();
});

test('when documents stop finishing, or only fail, then admission notices it', () => {
  const admission = openAdmission(roomy);
  const [first, second] = enterMany(admission, 20);
  jest.advanceTimersByTime(100);
  first?.release('done');
  jest.advanceTimersByTime(9_000);
  second?.release('failed');
  expect(admission.rejection('other')).toBeUndefined();

  jest.advanceTimersByTime(2_000);

  expect(admission.rejection('other')).toMatchObject(NO_MORE);
});

test('when one account keeps the queue full, then another is admitted, and the first is not', () => {
  const admission = openAdmission({ ...limits, perAccount: 100 });
  enterMany(admission, 10);

  expect(admission.rejection('one')).toMatchObject(NO_MORE);
  expect(admission.rejection('other')).toBeUndefined();
});

test('when one account has many documents that take long, then only its own next one would wait too long', () => {
  const admission = openAdmission(roomy);
  const places = enterMany(admission, 60);
  for (const place of places.splice(0, 30)) {
    jest.advanceTimersByTime(500);
    place.release('done');
  }

  expect(admission.rejection('one')).toMatchObject(NO_MORE);
  expect(admission.rejection('other')).toBeUndefined();
});

test('when an account has slow documents in flight, then short ones are not expected to wait for them', () => {
  const admission = openAdmission(roomy);
  const slow = Array.from({ length: 20 }, (_none, index) =>
    admission.admit({ accountId: 'one', requestId: `slow-${index}`, isSlow: true, pages: 20 }),
  );
  for (const place of slow.splice(0, 10)) {
    jest.advanceTimersByTime(4_000);
    place.release('done');
  }

  expect(() => admission.admit({ accountId: 'one', requestId: 'short' })).not.toThrow();
  expect(() => admission.admit({ accountId: 'one', requestId: 'slow', isSlow: true })).toThrow(
    'Too many documents are waiting, please try again later',
  );
});

test('when the pages of an account reach its share, then 429; one document at the bound is always admitted', () => {
  const admission = openAdmission({ ...roomy, pagesPerAccount: 100 });
  const admit = (accountId: string, pages: number) => admission.admit({ accountId, requestId: 'request', pages });

  const first = admit('one', 150);
  expect(() => admit('one', 1)).toThrow('Too many documents at the same time');
  admit('other', 60);
  admit('other', 40);
  expect(() => admit('other', 1)).toThrow('Too many documents at the same time');

  first.release('done');
  expect(() => admit('one', 1)).not.toThrow();
});

test('when one account used most of the renderers and another waits, then the first gets 429 until the other has its document', () => {
  const admission = openAdmission(roomy);
  const admit = (accountId: string) => admission.admit({ accountId, requestId: 'request' });
  admit('one').release('done', { printMs: 30_000 });
  expect(() => admit('one').release('done')).not.toThrow();

  const other = admit('other');
  jest.advanceTimersByTime(1_500);
  expect(() => admit('one')).toThrow('Too many documents at the same time');
  expect(admission.rejection('third')).toBeUndefined();

  other.release('done');
  expect(() => admit('one')).not.toThrow();
});

test('when many documents wait for a host that is slow to send its image, then others are not expected to wait behind them', () => {
  const admission = openAdmission(roomy);
  for (const place of enterMany(admission, 20)) {
    jest.advanceTimersByTime(1_000);
    place.release('done');
  }
  const admit = (accountId: string) => admission.admit({ accountId, requestId: accountId, hasRemoteImages: true });
  for (let index = 0; index < 11; index += 1) admit(`account-${index}`);
  expect(admission.rejection('other')).toMatchObject(NO_MORE);

  jest.advanceTimersByTime(1_500);

  expect(admission.rejection('other')).toBeUndefined();
});

test('when an account has documents in flight, then each further one says how many are ahead of it', () => {
  const admission = openAdmission(roomy);

  expect(enterMany(admission, 3).map(({ position }) => position)).toEqual([0, 1, 2]);
  expect(admission.admit({ accountId: 'other', requestId: 'request' }).position).toBe(0);
});
