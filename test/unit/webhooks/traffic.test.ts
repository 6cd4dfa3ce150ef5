// Circuit breaker and limit of calls in flight, on a clock of the test's own.
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { Admitted, DeliveryAdmission } from '../../../services/webhooks/traffic/admission.ts';
import { openTraffic } from '../../../services/webhooks/traffic/traffic.ts';
import { runs } from '../../support/form.ts';

function start(scale = 1, processes = 1, slots = 300) {
  const clock = { now: 1_000_000, delayMs: 0 };
  const traffic = openTraffic({
    scale,
    now: () => clock.now,
    processes: () => processes,
    eventLoopDelayMs: () => clock.delayMs,
    slots,
  });
  const admitted = async (endpointId = 'a') => {
    const admission = await traffic.admit(endpointId);
    if (!admission.admitted) throw new Error(`not admitted, wait ${admission.waitMs}`);
    return admission;
  };
  const attempt = async (isWell: boolean, endpointId = 'a') =>
    (await admitted(endpointId)).release({ isWell, durationMs: 5 });
  return { clock, traffic, admitted, attempt };
}

async function fill(admitted: () => Promise<DeliveryAdmission>, count: number) {
  return Promise.all(Array.from({ length: count }, () => admitted()));
}

test('when five attempts are in flight and the endpoint is slow, then the next ones wait, each longer, and other endpoints do not', async () => {
  const { clock, traffic, admitted } = start();
  await fill(admitted, 5);
  clock.now += 2_000;
  const sixth = await traffic.admit('a');
  const seventh = await traffic.admit('a');
  if (sixth.admitted || seventh.admitted) throw new Error('admitted beyond the limit');
  expect(seventh.waitMs).toBeGreaterThan(sixth.waitMs);
  expect([sixth.isOpen, seventh.isOpen]).toEqual([false, false]);
  expect((await traffic.admit('b')).admitted).toBe(true);
});

test('when the endpoint is quick, then the sixth attempt is admitted as soon as another one is released', async () => {
  const { traffic, admitted } = start();
  const [first] = (await fill(admitted, 5)) as Admitted[];
  const sixth = traffic.admit('a');
  first?.release({ isWell: true, durationMs: 3 });
  expect((await sixth).admitted).toBe(true);
});

test('when attempts take long because the event loop of this process is late, then the next one waits here and is admitted', async () => {
  const { clock, traffic, admitted } = start();
  const [first] = (await fill(admitted, 5)) as Admitted[];
  clock.now += 200;
  expect(traffic.predictWait('a')?.waitMs).toBeGreaterThan(0);
  clock.delayMs = 40;
  expect(traffic.predictWait('a')).toBeUndefined();
  const sixth = traffic.admit('a');
  first?.release({ isWell: true, durationMs: 200 });
  expect((await sixth).admitted).toBe(true);
});

test('when all endpoints take long, then none of them is slow; when another one is quick, then they are', async () => {
  const { clock, traffic, admitted } = start();
  for (const endpointId of ['a', 'b', 'c']) {
    const [first] = (await fill(() => admitted(endpointId), 5)) as Admitted[];
    first?.release({ isWell: true, durationMs: endpointId === 'c' ? 5 : 200 });
    await admitted(endpointId);
    if (endpointId === 'b') {
      clock.now += 300;
      expect(traffic.predictWait('a')).toBeUndefined();
    }
  }
  clock.now += 100;
  expect(traffic.predictWait('a')?.waitMs).toBeGreaterThan(0);
});

describe('when the limits of endpoints are reached and no attempt is released', () => {
  // An attempt that waits here checks its endpoint on a timer.
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** @returns for each attempt whether it waits here; predictions agree. */
  async function arrive({ tookMs }: { tookMs: number }) {
    const { traffic, clock, admitted } = start(1, 1, 12);
    for (const endpointId of ['a', 'b', 'c']) {
      const [first] = (await fill(() => admitted(endpointId), 5)) as Admitted[];
      first?.release({ isWell: true, durationMs: tookMs });
      await admitted(endpointId);
    }
    clock.now += tookMs;
    const planned: boolean[] = [];
    const deferred: boolean[] = [];
    for (const endpointId of 'aaaaabbbbbccc') {
      planned.push(traffic.predictWait(endpointId) === undefined);
      const index = deferred.push(false) - 1;
      void traffic.admit(endpointId).then((admission) => {
        deferred[index] = !admission.admitted;
      });
      await jest.advanceTimersByTimeAsync(0);
    }
    expect(planned).toEqual(deferred.map((isDeferred) => !isDeferred));
    return planned.map(Number).join('');
  }

  test('then a third of the slots may wait for an endpoint that is quick', async () => {
    expect(await arrive({ tookMs: 20 })).toBe('1111011110111');
  });

  test('then three quarters of the slots may wait when no endpoint is quick, but none is slower than the others', async () => {
    expect(await arrive({ tookMs: 200 })).toBe('1111011110100');
  });
});

test('when an endpoint has failed twice in a row and its trial is under way, then planned deliveries wait before they are enqueued', async () => {
  const { traffic, admitted, attempt } = start();
  await attempt(false);
  const trial = await admitted();
  expect(traffic.predictWait('a')).toBeUndefined();
  trial.release({ isWell: false, durationMs: 5 });
  expect(traffic.predictWait('a')).toBeUndefined();
  await admitted();
  expect(traffic.predictWait('a')).toMatchObject({ isOpen: false });
});

describe('when the limit of a quick endpoint stays reached', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  async function waitHere() {
    const { clock, traffic, admitted } = start();
    clock.delayMs = 1_000; // However long an attempt takes, it counts as quick.
    const inFlight = (await fill(admitted, 5)) as Admitted[];
    const seen: DeliveryAdmission[] = [];
    void traffic.admit('a').then((admission) => seen.push(admission));
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 100) {
        clock.now += 100;
        await jest.advanceTimersByTimeAsync(100);
      }
    };
    return { clock, traffic, inFlight, seen, pass };
  }

  test('then of a waiting attempt and one that arrives while another is released, only one is admitted', async () => {
    const { traffic, inFlight, seen, pass } = await waitHere();
    inFlight[0]?.release({ isWell: true, durationMs: 3 });
    void traffic.admit('a').then((admission) => seen.push(admission));
    await pass(5_100);
    expect(seen.map(({ admitted }) => admitted)).toEqual([true, false]);
  });

  test('then an attempt that waits goes on waiting, and is admitted after seconds', async () => {
    const { inFlight, seen, pass } = await waitHere();
    await pass(3_000);
    expect(seen).toEqual([]);
    inFlight[0]?.release({ isWell: true, durationMs: 3_000 });
    await pass(100);
    expect(seen).toEqual([expect.objectContaining({ admitted: true })]);
  });

  test('then no attempt waits for longer than five seconds', async () => {
    const { seen, pass } = await waitHere();
    await pass(4_900);
    expect(seen).toEqual([]);
    await pass(200);
    expect(seen).toEqual([expect.objectContaining({ admitted: false, isOpen: false })]);
  });

  test('then an attempt that waits is deferred soon after the endpoint turns out to be slow', async () => {
    const { clock, seen, pass } = await waitHere();
    await pass(1_000);
    clock.delayMs = 0;
    await pass(600);
    expect(seen).toEqual([expect.objectContaining({ admitted: false, isOpen: false })]);
  });

  test('then an attempt that waits is deferred soon after the breaker opens', async () => {
    const { inFlight, seen, pass } = await waitHere();
    // All but one are released at once: after a failure the limit is one, so no other attempt is admitted.
    for (let count = 0; count < 10; count += 1) inFlight[count % 4]?.release({ isWell: false, durationMs: 5 });
    await pass(600);
    expect(seen).toEqual([expect.objectContaining({ admitted: false })]);
  });
});

test('when the last attempt failed, then one at a time is made until one succeeds', async () => {
  const { clock, traffic, admitted, attempt } = start();
  await attempt(false);
  const trial = await admitted();
  clock.now += 1_000;
  expect((await traffic.admit('a')).admitted).toBe(false);
  trial.release({ isWell: true, durationMs: 1_000 });
  await fill(admitted, 5);
});

test('when nine attempts fail, then the breaker is closed; at the tenth it opens', async () => {
  const { traffic, attempt } = start();
  for (let count = 0; count < 9; count += 1) await attempt(false);
  expect(traffic.openCircuits()).toBe(0);
  await attempt(false);
  expect(await traffic.admit('a')).toMatchObject({ admitted: false, isOpen: true });
  expect(traffic.openCircuits()).toBe(1);
  expect((await traffic.admit('b')).admitted).toBe(true);
});

test('when the breaker has been open for its time, then one trial is made, and its failure opens it again', async () => {
  const { clock, traffic, attempt, admitted } = start();
  for (let count = 0; count < 10; count += 1) await attempt(false);
  clock.now += 30_000;
  const trial = await admitted();
  expect(await traffic.admit('a')).toMatchObject({ admitted: false, isOpen: true });
  trial.release({ isWell: false, durationMs: 5 });
  expect(await traffic.admit('a')).toMatchObject({ admitted: false, isOpen: true });
});

test('when the trial succeeds, then the breaker closes, reports it once, and all attempts are admitted', async () => {
  const { clock, traffic, attempt, admitted } = start();
  for (let count = 0; count < 10; count += 1) await attempt(false);
  clock.now += 30_000;
  expect(traffic.openCircuits()).toBe(1);
  expect(await attempt(true)).toEqual({ recovered: true });
  expect(traffic.openCircuits()).toBe(0);
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
  expect((await traffic.admit('a')).admitted).toBe(true);
});

test('when attempts start and end in any order, then at most five are in flight and an idle, healthy endpoint takes no memory', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ enters: fc.boolean(), isWell: fc.boolean(), passesMs: fc.nat({ max: 40_000 }) })),
      async (steps) => {
        const { clock, traffic } = start();
        const inFlight: Admitted[] = [];
        const waits: number[] = [];
        for (const { enters, isWell, passesMs } of steps) {
          // Slow ones, so that none waits on the real clock.
          clock.now += 100 + passesMs;
          if (enters) {
            const admission = await traffic.admit('a');
            if (admission.admitted) inFlight.push(admission);
            else waits.push(admission.waitMs);
          } else inFlight.shift()?.release({ isWell, durationMs: 100 });
          expect(inFlight.length).toBeLessThanOrEqual(5);
        }
        expect(waits.filter((waitMs) => !(waitMs > 0))).toEqual([]);
        for (const admission of inFlight) admission.release({ isWell: true, durationMs: 100 });
        clock.now += 10 * 60_000;
        const last = await traffic.admit('a');
        if (!last.admitted) throw new Error('an attempt at an idle endpoint was not admitted');
        last.release({ isWell: true, durationMs: 100 });
        expect(traffic.size()).toBe(0);
      },
    ),
    runs(),
  );
});

test('when a job was stale and no attempt was made, then nothing is recorded', async () => {
  const { traffic, admitted } = start();
  for (let count = 0; count < 20; count += 1) (await admitted()).release();
  expect(traffic.size()).toBe(0);
});

test.each([
  [1, 5],
  [2, 2],
  [5, 1],
  [9, 1],
])('when %i processes share the work, then each has at most %i attempts in flight', async (processes, share) => {
  const { clock, traffic, admitted } = start(1, processes);
  await fill(admitted, share);
  clock.now += 1_000;
  expect((await traffic.admit('a')).admitted).toBe(false);
});

test('when attempts are planned, then only those that would not be admitted wait', async () => {
  const { clock, traffic, admitted } = start();
  expect(traffic.predictWait('a')).toBeUndefined();
  expect(traffic.size()).toBe(0);
  await fill(admitted, 4);
  clock.now += 1_000;
  expect(traffic.predictWait('a')).toBeUndefined();
  await admitted();
  clock.now += 1_000;
  const [first, second] = [traffic.predictWait('a'), traffic.predictWait('a')];
  expect([first?.isOpen, second?.isOpen]).toEqual([false, false]);
  expect(second?.waitMs).toBeGreaterThan(first?.waitMs ?? Number.POSITIVE_INFINITY);
});

test('when the breaker is open, then planned attempts wait, and after its time one trial comes and not all at once', async () => {
  const { clock, traffic, attempt } = start();
  for (let count = 0; count < 10; count += 1) await attempt(false);
  expect(traffic.predictWait('a')).toMatchObject({ isOpen: true });
  clock.now += 30_000;
  expect(traffic.predictWait('a')).toBeUndefined();
  expect(traffic.predictWait('a')).toMatchObject({ isOpen: true });
  // The trial was lost on its way: another one is planned.
  clock.now += 2_000;
  expect(traffic.predictWait('a')).toBeUndefined();
  expect(await attempt(true)).toEqual({ recovered: true });
  expect(traffic.predictWait('a')).toBeUndefined();
});

test('when the clock of the machine is set back by an hour, then an open breaker opens no longer than it would have', async () => {
  const traffic = openTraffic({ scale: 1 });
  const right = Date.now();
  jest.spyOn(Date, 'now').mockReturnValue(right + 3_600_000);
  for (let time = 0; time < 10; time += 1) {
    const admission = await traffic.admit('a');
    if (admission.admitted) admission.release({ isWell: false, durationMs: 5 });
  }
  jest.restoreAllMocks();
  expect(traffic.predictWait('a')?.waitMs).toBeLessThanOrEqual(60_000);
});

test('when thousands are deferred for one endpoint, then a few come back at a time, none later than half an hour after', async () => {
  const { clock, traffic, attempt } = start();
  for (let count = 0; count < 10; count += 1) await attempt(false);
  const waits = Array.from({ length: 6_000 }, () => traffic.predictWait('a')?.waitMs ?? Number.NaN);
  const backBy = (ms: number) => waits.filter((waitMs) => waitMs <= ms).length;
  expect(backBy(60_000)).toBeGreaterThan(100);
  expect(backBy(60_000)).toBeLessThan(1_000);
  expect(backBy(31 * 60_000)).toBe(6_000);

  // It was healthy in between: the next ones do not wait for the earlier ones.
  clock.now += 30_000;
  await attempt(true);
  for (let count = 0; count < 10; count += 1) await attempt(false);
  expect(traffic.predictWait('a')?.waitMs).toBeLessThanOrEqual(60_000);
});

test('when a delivery is deferred again and again, then it waits for longer each time, up to half an hour', async () => {
  const { traffic, attempt } = start();
  for (let count = 0; count < 10; count += 1) await attempt(false);
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
  const waits = [0, 1, 2, 6, 2_000].map((deferrals) =>
    Math.round((traffic.predictWait('a', deferrals)?.waitMs ?? 0) / 1_000),
  );
  jest.restoreAllMocks();
  expect(waits).toEqual([45, 60, 90, 930, 930]);
});

test('when endpoints fail and get no more attempts, then their state is dropped, unless they have calls in flight or deferrals', async () => {
  const { clock, traffic, admitted, attempt } = start();
  for (let count = 0; count < 100; count += 1) await attempt(false, `gone-${count}`);
  for (let count = 0; count < 10; count += 1) await attempt(false, 'down');
  await attempt(false, 'hangs');
  const inFlight = await admitted('hangs');
  expect(traffic.size()).toBe(102);

  clock.now += 20 * 60_000;
  // An event for it: its delivery is deferred, for up to half an hour.
  expect(traffic.predictWait('down')).toBeUndefined();
  expect(traffic.predictWait('down')).toMatchObject({ isOpen: true });
  clock.now += 20 * 60_000;
  await attempt(true, 'another');

  expect(traffic.size()).toBe(2);
  expect(traffic.predictWait('down')).toBeUndefined();
  expect(traffic.predictWait('down')).toMatchObject({ isOpen: true });
  inFlight.release({ isWell: true, durationMs: 5 });
});
