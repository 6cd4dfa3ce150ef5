// The breaker and the limit of attempts in flight, on a clock of the test's own.
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { type Admission, openTraffic } from '../../../services/webhooks/traffic.ts';
import { runs } from '../../support/form.ts';

function start(scale = 1, sharers = 1, slots = 300) {
  const clock = { now: 1_000_000, lagMs: 0 };
  const traffic = openTraffic({ scale, now: () => clock.now, sharers: () => sharers, lagMs: () => clock.lagMs, slots });
  const admitted = async (endpointId = 'a') => {
    const admission = await traffic.enter(endpointId);
    if (!admission.admitted) throw new Error(`not admitted, wait ${admission.waitMs}`);
    return admission;
  };
  const attempt = async (isWell: boolean, endpointId = 'a') =>
    (await admitted(endpointId)).leave({ isWell, durationMs: 5 });
  return { clock, traffic, admitted, attempt };
}

async function fill(admitted: () => Promise<Admission>, count: number) {
  return Promise.all(Array.from({ length: count }, () => admitted()));
}

test('when five attempts are in hand and the endpoint is slow, then the next waits, each one longer, and other endpoints do not', async () => {
  const { clock, traffic, admitted } = start();
  await fill(admitted, 5);
  clock.now += 2_000;
  const sixth = await traffic.enter('a');
  const seventh = await traffic.enter('a');
  if (sixth.admitted || seventh.admitted) throw new Error('admitted beyond the limit');
  expect(seventh.waitMs).toBeGreaterThan(sixth.waitMs);
  expect([sixth.isOpen, seventh.isOpen]).toEqual([false, false]);
  expect((await traffic.enter('b')).admitted).toBe(true);
});

test('when the endpoint is quick, then the sixth attempt is let in as soon as one leaves', async () => {
  const { traffic, admitted } = start();
  const [first] = (await fill(admitted, 5)) as Extract<Admission, { admitted: true }>[];
  const sixth = traffic.enter('a');
  first?.leave({ isWell: true, durationMs: 3 });
  expect((await sixth).admitted).toBe(true);
});

test('when attempts take long because this process is late itself, then the next waits right here and is let in', async () => {
  const { clock, traffic, admitted } = start();
  const [first] = (await fill(admitted, 5)) as Extract<Admission, { admitted: true }>[];
  clock.now += 200;
  expect(traffic.foresee('a')?.waitMs).toBeGreaterThan(0);
  clock.lagMs = 40;
  expect(traffic.foresee('a')).toBeUndefined();
  const sixth = traffic.enter('a');
  first?.leave({ isWell: true, durationMs: 200 });
  expect((await sixth).admitted).toBe(true);
});

test('when all endpoints take long, then none of them is slow; when another one is quick, then they are', async () => {
  const { clock, traffic, admitted } = start();
  for (const endpointId of ['a', 'b', 'c']) {
    const [first] = (await fill(() => admitted(endpointId), 5)) as Extract<Admission, { admitted: true }>[];
    first?.leave({ isWell: true, durationMs: endpointId === 'c' ? 5 : 200 });
    await admitted(endpointId);
    if (endpointId === 'b') {
      clock.now += 300;
      expect(traffic.foresee('a')).toBeUndefined();
    }
  }
  clock.now += 100;
  expect(traffic.foresee('a')?.waitMs).toBeGreaterThan(0);
});

describe('when endpoints are full and nobody leaves', () => {
  // Who waits looks again and again.
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** @returns for each that comes whether it waits right here; plans say the same. */
  async function come({ tookMs }: { tookMs: number }) {
    const { traffic, clock, admitted } = start(1, 1, 12);
    for (const endpointId of ['a', 'b', 'c']) {
      const [first] = (await fill(() => admitted(endpointId), 5)) as Extract<Admission, { admitted: true }>[];
      first?.leave({ isWell: true, durationMs: tookMs });
      await admitted(endpointId);
    }
    clock.now += tookMs;
    const planned: boolean[] = [];
    const aside: boolean[] = [];
    for (const endpointId of 'aaaaabbbbbccc') {
      planned.push(traffic.foresee(endpointId) === undefined);
      const index = aside.push(false) - 1;
      void traffic.enter(endpointId).then((admission) => {
        aside[index] = !admission.admitted;
      });
      await jest.advanceTimersByTimeAsync(0);
    }
    expect(planned).toEqual(aside.map((isAside) => !isAside));
    return planned.map(Number).join('');
  }

  test('then a third of the slots may wait for one that is quick', async () => {
    expect(await come({ tookMs: 20 })).toBe('1111011110111');
  });

  test('then three quarters of the slots may wait when none is quick, but none slower than others', async () => {
    expect(await come({ tookMs: 200 })).toBe('1111011110100');
  });
});

test('when an endpoint has failed twice in a row and its trial is under way, then what is planned waits before it is on the queue', async () => {
  const { traffic, admitted, attempt } = start();
  await attempt(false);
  const trial = await admitted();
  expect(traffic.foresee('a')).toBeUndefined();
  trial.leave({ isWell: false, durationMs: 5 });
  expect(traffic.foresee('a')).toBeUndefined();
  await admitted();
  expect(traffic.foresee('a')).toMatchObject({ isOpen: false });
});

describe('when the house of a quick endpoint stays full', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  async function waitHere() {
    const { clock, traffic, admitted } = start();
    clock.lagMs = 1_000; // Whatever an attempt takes, it is quick.
    const hands = (await fill(admitted, 5)) as Extract<Admission, { admitted: true }>[];
    const seen: Admission[] = [];
    void traffic.enter('a').then((admission) => seen.push(admission));
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 100) {
        clock.now += 100;
        await jest.advanceTimersByTimeAsync(100);
      }
    };
    return { clock, traffic, hands, seen, pass };
  }

  test('then of one who waits and one who comes as one leaves, only one is let in', async () => {
    const { traffic, hands, seen, pass } = await waitHere();
    hands[0]?.leave({ isWell: true, durationMs: 3 });
    void traffic.enter('a').then((admission) => seen.push(admission));
    await pass(5_100);
    expect(seen.map(({ admitted }) => admitted)).toEqual([true, false]);
  });

  test('then who waits goes on waiting, and is let in after seconds', async () => {
    const { hands, seen, pass } = await waitHere();
    await pass(3_000);
    expect(seen).toEqual([]);
    hands[0]?.leave({ isWell: true, durationMs: 3_000 });
    await pass(100);
    expect(seen).toEqual([expect.objectContaining({ admitted: true })]);
  });

  test('then nobody waits for longer than five seconds', async () => {
    const { seen, pass } = await waitHere();
    await pass(4_900);
    expect(seen).toEqual([]);
    await pass(200);
    expect(seen).toEqual([expect.objectContaining({ admitted: false, isOpen: false })]);
  });

  test('then who waits is put aside soon after it turns out to be slow', async () => {
    const { clock, seen, pass } = await waitHere();
    await pass(1_000);
    clock.lagMs = 0;
    await pass(600);
    expect(seen).toEqual([expect.objectContaining({ admitted: false, isOpen: false })]);
  });

  test('then who waits is put aside soon after its breaker opens', async () => {
    const { hands, seen, pass } = await waitHere();
    // All but the last one leave at once: it is one at a time after a failure, and nobody else is let in.
    for (let count = 0; count < 10; count += 1) hands[count % 4]?.leave({ isWell: false, durationMs: 5 });
    await pass(600);
    expect(seen).toEqual([expect.objectContaining({ admitted: false })]);
  });
});

test('when the last attempt failed, then one at a time is made until one succeeds', async () => {
  const { clock, traffic, admitted, attempt } = start();
  await attempt(false);
  const trial = await admitted();
  clock.now += 1_000;
  expect((await traffic.enter('a')).admitted).toBe(false);
  trial.leave({ isWell: true, durationMs: 1_000 });
  await fill(admitted, 5);
});

test('when nine attempts fail, then the breaker is closed; at the tenth it opens', async () => {
  const { traffic, attempt } = start();
  for (let count = 0; count < 9; count += 1) await attempt(false);
  await attempt(false);
  expect(await traffic.enter('a')).toMatchObject({ admitted: false, isOpen: true });
  expect((await traffic.enter('b')).admitted).toBe(true);
});

test('when the breaker has been open for its time, then one trial is made, and its failure opens it again', async () => {
  const { clock, traffic, attempt, admitted } = start();
  for (let count = 0; count < 10; count += 1) await attempt(false);
  clock.now += 30_000;
  const trial = await admitted();
  expect(await traffic.enter('a')).toMatchObject({ admitted: false, isOpen: true });
  trial.leave({ isWell: false, durationMs: 5 });
  expect(await traffic.enter('a')).toMatchObject({ admitted: false, isOpen: true });
});

test('when the trial succeeds, then the breaker closes, says so once, and all are let in', async () => {
  const { clock, attempt, admitted } = start();
  for (let count = 0; count < 10; count += 1) await attempt(false);
  clock.now += 30_000;
  expect(await attempt(true)).toEqual({ recovered: true });
  expect(await attempt(true)).toEqual({ recovered: false });
  await fill(admitted, 5);
});

test('when failures are sporadic, below seven in ten, then the breaker never opens', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 20 }), async (rounds) => {
      const { attempt } = start();
      for (let round = 0; round < rounds; round += 1) {
        for (const isWell of [true, false, true, false, false])
          expect(await attempt(isWell)).toEqual({ recovered: false });
      }
    }),
    runs(20),
  );
});

test('when failures are older than five minutes, then they no longer count', async () => {
  const { clock, attempt, traffic } = start();
  for (let count = 0; count < 9; count += 1) await attempt(false);
  clock.now += 5 * 60_000 + 1;
  await attempt(false);
  expect((await traffic.enter('a')).admitted).toBe(true);
});

test('when attempts come and go in any order, then never more than five are in hand and an idle, healthy endpoint is forgotten', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ enters: fc.boolean(), isWell: fc.boolean(), passesMs: fc.nat({ max: 40_000 }) })),
      async (steps) => {
        const { clock, traffic } = start();
        const inHand: Extract<Admission, { admitted: true }>[] = [];
        const waits: number[] = [];
        for (const { enters, isWell, passesMs } of steps) {
          // Slow ones, so that none waits on the real clock.
          clock.now += 100 + passesMs;
          if (enters) {
            const admission = await traffic.enter('a');
            if (admission.admitted) inHand.push(admission);
            else waits.push(admission.waitMs);
          } else inHand.shift()?.leave({ isWell, durationMs: 100 });
          expect(inHand.length).toBeLessThanOrEqual(5);
        }
        expect(waits.filter((waitMs) => !(waitMs > 0))).toEqual([]);
        for (const admission of inHand) admission.leave({ isWell: true, durationMs: 100 });
        clock.now += 10 * 60_000;
        const last = await traffic.enter('a');
        if (!last.admitted) throw new Error('an endpoint that nobody uses was not let in');
        last.leave({ isWell: true, durationMs: 100 });
        expect(traffic.size()).toBe(0);
      },
    ),
    runs(),
  );
});

test('when a job was stale and no attempt was made, then nothing is learnt from it', async () => {
  const { traffic, admitted } = start();
  for (let count = 0; count < 20; count += 1) (await admitted()).leave();
  expect(traffic.size()).toBe(0);
});

test.each([
  [1, 5],
  [2, 2],
  [5, 1],
  [9, 1],
])('when %i processes share the work, then each has at most %i attempts in hand', async (sharers, share) => {
  const { clock, traffic, admitted } = start(1, sharers);
  await fill(admitted, share);
  clock.now += 1_000;
  expect((await traffic.enter('a')).admitted).toBe(false);
});

test('when attempts are planned, then only those that would be sent away are told to wait', async () => {
  const { clock, traffic, admitted } = start();
  expect(traffic.foresee('a')).toBeUndefined();
  expect(traffic.size()).toBe(0);
  await fill(admitted, 4);
  clock.now += 1_000;
  expect(traffic.foresee('a')).toBeUndefined();
  await admitted();
  clock.now += 1_000;
  const [first, second] = [traffic.foresee('a'), traffic.foresee('a')];
  expect([first?.isOpen, second?.isOpen]).toEqual([false, false]);
  expect(second?.waitMs).toBeGreaterThan(first?.waitMs ?? Number.POSITIVE_INFINITY);
});

test('when the breaker is open, then planned attempts wait, and after its time one trial is sent for and not all at once', async () => {
  const { clock, traffic, attempt } = start();
  for (let count = 0; count < 10; count += 1) await attempt(false);
  expect(traffic.foresee('a')).toMatchObject({ isOpen: true });
  clock.now += 30_000;
  expect(traffic.foresee('a')).toBeUndefined();
  expect(traffic.foresee('a')).toMatchObject({ isOpen: true });
  // The trial was lost on its way: another one is sent for.
  clock.now += 2_000;
  expect(traffic.foresee('a')).toBeUndefined();
  expect(await attempt(true)).toEqual({ recovered: true });
  expect(traffic.foresee('a')).toBeUndefined();
});

test('when the clock of the machine is set back by an hour, then an open breaker opens no longer than it would have', async () => {
  const traffic = openTraffic({ scale: 1 });
  const right = Date.now();
  jest.spyOn(Date, 'now').mockReturnValue(right + 3_600_000);
  for (let time = 0; time < 10; time += 1) {
    const admission = await traffic.enter('a');
    if (admission.admitted) admission.leave({ isWell: false, durationMs: 5 });
  }
  jest.restoreAllMocks();
  expect(traffic.foresee('a')?.waitMs).toBeLessThanOrEqual(60_000);
});

test('when thousands are put aside for one endpoint, then a few come back at a time, none later than the half hour after', async () => {
  const { clock, traffic, attempt } = start();
  for (let count = 0; count < 10; count += 1) await attempt(false);
  const waits = Array.from({ length: 6_000 }, () => traffic.foresee('a')?.waitMs ?? Number.NaN);
  const backBy = (ms: number) => waits.filter((waitMs) => waitMs <= ms).length;
  expect(backBy(60_000)).toBeGreaterThan(100);
  expect(backBy(60_000)).toBeLessThan(1_000);
  expect(backBy(31 * 60_000)).toBe(6_000);

  // It was well for a while: what comes next is not made to wait for those of before.
  clock.now += 30_000;
  await attempt(true);
  for (let count = 0; count < 10; count += 1) await attempt(false);
  expect(traffic.foresee('a')?.waitMs).toBeLessThanOrEqual(60_000);
});

test('when one is put aside again and again, then for longer each time, up to the half hour', async () => {
  const { traffic, attempt } = start();
  for (let count = 0; count < 10; count += 1) await attempt(false);
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
  const waits = [0, 1, 2, 6, 2_000].map((postponed) =>
    Math.round((traffic.foresee('a', postponed)?.waitMs ?? 0) / 1_000),
  );
  jest.restoreAllMocks();
  expect(waits).toEqual([45, 60, 90, 930, 930]);
});

test('when endpoints fail and nobody asks for them any more, then they are forgotten; those in hand or put aside are not', async () => {
  const { clock, traffic, admitted, attempt } = start();
  for (let count = 0; count < 100; count += 1) await attempt(false, `gone-${count}`);
  for (let count = 0; count < 10; count += 1) await attempt(false, 'down');
  await attempt(false, 'hangs');
  const inHand = await admitted('hangs');
  expect(traffic.size()).toBe(102);

  clock.now += 20 * 60_000;
  // An event for it: it is put aside, for up to half an hour.
  expect(traffic.foresee('down')).toBeUndefined();
  expect(traffic.foresee('down')).toMatchObject({ isOpen: true });
  clock.now += 20 * 60_000;
  await attempt(true, 'another');

  expect(traffic.size()).toBe(2);
  expect(traffic.foresee('down')).toBeUndefined();
  expect(traffic.foresee('down')).toMatchObject({ isOpen: true });
  inHand.leave({ isWell: true, durationMs: 5 });
});
