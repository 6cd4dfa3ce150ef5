// Who is let in to wait for a document, and that asking alone takes nobody's room for long.
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { openAdmission } from '../../../services/gateway/http/admission.ts';

const limits = { perAccount: 3, waiting: 10, waitMs: 10_000 };
const NO_MORE = { status: 503, message: 'Too many documents are waiting, please try again later' };

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('when more knock at once than there is room for, then only so many go on', () => {
  const admission = openAdmission(limits);

  const answers = Array.from({ length: 14 }, (_none, index) => admission.knock(`request-${index}`));

  expect(answers.slice(0, 10)).toEqual(Array(10).fill(undefined));
  for (const answer of answers.slice(10)) expect(answer).toMatchObject(NO_MORE);
});

test('when those who knocked do not come in, then their room is free again', () => {
  const admission = openAdmission(limits);
  for (let index = 0; index < 10; index += 1) admission.knock(`request-${index}`);
  expect(admission.knock('one more')).toBeDefined();

  jest.advanceTimersByTime(250);

  expect(admission.knock('one more')).toBeUndefined();
});

test('when who knocked was answered without coming in, then his room is free at once', () => {
  const admission = openAdmission(limits);
  for (let index = 0; index < 30; index += 1) {
    expect(admission.knock(`request-${index}`)).toBeUndefined();
    admission.withdraw(`request-${index}`);
  }
});

test('when who knocked comes in, then he has one place and not two', () => {
  const admission = openAdmission(limits);
  for (let index = 0; index < 5; index += 1) {
    admission.knock(`request-${index}`);
    admission.enter({ accountId: `account-${index}`, requestId: `request-${index}` });
  }

  const answers = Array.from({ length: 6 }, (_none, index) => admission.knock(`later-${index}`));

  expect(answers.slice(0, 5)).toEqual(Array(5).fill(undefined));
  expect(answers[5]).toMatchObject(NO_MORE);
});

test('when an account has its share, then 429 until one of its documents is done', () => {
  const admission = openAdmission(limits);
  const enter = () => admission.enter({ accountId: 'one', requestId: 'request' });
  const [first] = [enter(), enter(), enter()];

  expect(enter).toThrow('Too many documents at the same time');
  expect(admission.refusal('one')).toMatchObject({ status: 429 });
  expect(admission.refusal('other')).toBeUndefined();

  first?.leave('done');
  expect(admission.refusal('one')).toBeUndefined();
});

test('when documents take long, then nobody is let in who would wait too long, and is told how long', () => {
  const admission = openAdmission({ ...limits, waiting: 1_000, perAccount: 1_000 });
  const places = Array.from({ length: 20 }, (_none, index) =>
    admission.enter({ accountId: 'one', requestId: `request-${index}` }),
  );
  jest.advanceTimersByTime(11_000);

  const refused = admission.refusal('other');
  for (const place of places.splice(0, 13)) place.leave('done');

  expect(refused).toMatchObject(NO_MORE);
  expect(refused?.seconds).toBeGreaterThanOrEqual(11);
  // So few wait that no wait can be told from them.
  expect(admission.refusal('other')).toBeUndefined();
});

test('when documents waited for slow pictures, then those behind them are not taken for late', () => {
  const admission = openAdmission({ ...limits, waiting: 1_000, perAccount: 1_000 });
  const enter = (count: number) =>
    Array.from({ length: count }, (_none, index) =>
      admission.enter({ accountId: 'one', requestId: `request-${index}` }),
    );
  const slow = enter(8);
  jest.advanceTimersByTime(5_000);
  for (const place of slow) place.leave('done', 5_000);

  enter(20);

  expect(admission.refusal('other')).toBeUndefined();
});

const roomy = { ...limits, waiting: 1_000, perAccount: 1_000 };
const enterMany = (admission: ReturnType<typeof openAdmission>, count: number) =>
  Array.from({ length: count }, (_none, index) => admission.enter({ accountId: 'one', requestId: `request-${index}` }));

test('when one document is stuck while others are done, then its age is not the wait of everybody', () => {
  const admission = openAdmission(roomy);
  enterMany(admission, 1);
  for (let second = 0; second < 12; second += 1) {
    const others = enterMany(admission, 10);
    jest.advanceTimersByTime(1_000);
    for (const place of others) place.leave('done');
  }

  enterMany(admission, 10);

  expect(admission.refusal('other')).toBeUndefined();
});

test('when some wait for slow pictures while others are done, then nobody is refused for their age', () => {
  const admission = openAdmission(roomy);
  const slow = enterMany(admission, 10);
  jest.advanceTimersByTime(9_000);
  for (const place of enterMany(admission, 5)) place.leave('done');
  jest.advanceTimersByTime(2_000);

  expect(admission.refusal('other')).toBeUndefined();

  for (const place of slow) place.leave('done', 11_000);
  expect(admission.refusal('other')).toBeUndefined();
});

test('when nothing is done any more after some were, or documents only fail, then it is seen', () => {
  const admission = openAdmission(roomy);
  const [first, second] = enterMany(admission, 20);
  jest.advanceTimersByTime(100);
  first?.leave('done');
  jest.advanceTimersByTime(9_000);
  second?.leave('failed');
  expect(admission.refusal('other')).toBeUndefined();

  jest.advanceTimersByTime(2_000);

  expect(admission.refusal('other')).toMatchObject(NO_MORE);
});
