// Failed logins: what an attacker may try, and that an operator still gets in.
import { beforeEach, expect, test } from '@jest/globals';
import { type LoginLimits, openLoginLimits } from '../../../services/operations/session/login-limits.ts';

const MINUTE = 60_000;
let time: number;
let limits: LoginLimits;
beforeEach(() => {
  time = 1_000_000;
  limits = openLoginLimits(() => time);
});

const ada = (address: string, browser?: string) => ({ name: 'ada', address, browser });

/** @returns how long the attempt has to wait; undefined when it was admitted. */
function fail(attempt: { name: string; address: string; browser?: string | undefined }): number | undefined {
  const admission = limits.admit(attempt);
  return admission.isAdmitted ? undefined : admission.retryAfterMs;
}

function failTimes(times: number, attemptOf: (index: number) => Parameters<typeof fail>[0]) {
  for (let index = 0; index < times; index += 1) expect(fail(attemptOf(index))).toBeUndefined();
}

test('when a name fails ten times from an address, then this address waits a quarter of an hour and another one a second', () => {
  failTimes(10, () => ada('a'));

  expect(fail(ada('a'))).toBe(15 * MINUTE);
  expect(fail(ada('b'))).toBeUndefined();
  time += 15 * MINUTE - 1;
  expect(fail(ada('a'))).toBe(1);
  time += 1;
  expect(fail(ada('a'))).toBeUndefined();
});

test('when a name fails from many addresses, then each attempt waits twice as long as the one before, at most a minute', () => {
  failTimes(11, (index) => ada(`address ${index}`));
  const waits: unknown[] = [];
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const wait = fail(ada(`later ${attempt}`)) as number;
    waits.push(wait);
    time += wait - 1;
    expect(fail(ada(`later ${attempt}`))).toBe(1);
    time += 1;
    expect(fail(ada(`later ${attempt}`))).toBeUndefined();
  }

  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, MINUTE, MINUTE]);
});

test('when an attacker waits for the window of an address to end, then the name still has its delay', () => {
  failTimes(11, (index) => ada(`address ${index}`));
  time += 14 * MINUTE;
  expect(fail(ada('b'))).toBeUndefined();
  time += 14 * MINUTE;

  expect(fail(ada('b'))).toBeUndefined();
  expect(fail(ada('b'))).toBe(4_000);
  time += 15 * MINUTE;
  failTimes(9, () => ada('c'));
});

test('when strangers fail at the same address and elsewhere without end, then a known browser gets in at once', () => {
  for (let index = 0; index < 1_000; index += 1) {
    fail(ada('office'));
    fail(ada(`address ${index}`));
    time += 500;
  }
  expect(fail(ada('office'))).toBeGreaterThan(0);

  expect(fail(ada('office', 'known'))).toBeUndefined();
});

test('when a known browser itself fails ten times, then it is limited like any other', () => {
  failTimes(20, () => ada('a', 'stolen'));

  expect(fail(ada('a', 'stolen'))).toBe(15 * MINUTE);
  expect(fail(ada('a', 'another'))).toBeUndefined();
});

test('when an address fails thirty times, then it waits whatever name it sends', () => {
  failTimes(30, (index) => ({ name: `name ${index}`, address: 'a' }));

  expect(fail({ name: 'another', address: 'a' })).toBe(15 * MINUTE);
  expect(fail({ name: 'another', address: 'b' })).toBeUndefined();
});

test('when a password is right, then the attempt counts nowhere and ends the delay', () => {
  failTimes(11, (index) => ada(`address ${index}`));
  time += 1_000;
  for (let index = 0; index < 50; index += 1) {
    const admission = limits.admit(ada('a'));
    expect(admission.isAdmitted).toBe(true);
    if (admission.isAdmitted) admission.cancel();
  }

  failTimes(1, () => ada('a'));
  expect(fail(ada('a'))).toBe(2_000);
});

test('when attempts come at the same time, then no more are admitted than one after the other', () => {
  const admitted = Array.from({ length: 100 }, () => limits.admit(ada('a'))).filter(({ isAdmitted }) => isAdmitted);

  expect(admitted).toHaveLength(10);
});

test('when a flood is rejected, then only its first attempt is to be recorded', () => {
  failTimes(10, () => ada('a'));

  const rejections = Array.from({ length: 100 }, () => limits.admit(ada('a')));

  expect(rejections.filter((one) => !one.isAdmitted && one.isFirst)).toHaveLength(1);
});

test('when rejected attempts send ever new names, then the limit of their address is not forgotten', () => {
  failTimes(30, (index) => ({ name: `name ${index}`, address: 'a' }));
  for (let index = 0; index < 20_000; index += 1) fail({ name: `flood ${index}`, address: 'a' });

  expect(fail(ada('a'))).toBe(15 * MINUTE);
  failTimes(9, () => ({ name: 'name 0', address: 'b' }));
  expect(fail({ name: 'name 0', address: 'c' })).toBeUndefined();
  expect(fail({ name: 'name 0', address: 'd' })).toBe(1_000);
});
