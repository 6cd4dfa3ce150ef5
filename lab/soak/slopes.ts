// How fast each quantity grows, and whether that is as slow as it must be.
import type { Reading } from './readings.ts';

export interface Slope {
  name: string;
  first: number;
  last: number;
  most: number;
  /** Of the straight line nearest to all readings after the warm-up. */
  perHour: number;
  /** Such as `≤ 2 per hour`; empty when the row only informs. */
  target: string;
  pass: boolean;
}

const WARM_UP_HOURS = 0.25;
const WARM_UP_SHARE = 0.25;
/** Below that a slope is a guess from noise, and is not judged. */
const JUDGED_FROM_HOURS = 1;
const GATEWAY_MB_PER_HOUR = 2;

/** Hours that do not count: caches fill, pools open. */
export const warmUpHours = (hours: number) => Math.min(WARM_UP_HOURS, hours * WARM_UP_SHARE);

export function slopesOf(readings: readonly Reading[], hours: number): Slope[] {
  const counted = readings.filter((reading) => reading.hours >= warmUpHours(hours));
  const names = [...(counted[0]?.values.keys() ?? [])];
  return names.map((name) => {
    const points = counted
      .map((reading) => [reading.hours, reading.values.get(name) ?? Number.NaN] as const)
      .filter(([, value]) => !Number.isNaN(value));
    const values = points.map(([, value]) => value);
    const slope = {
      name,
      first: values[0] ?? Number.NaN,
      last: values.at(-1) ?? Number.NaN,
      most: Math.max(...values),
      perHour: slopeOf(points),
    };
    return { ...slope, ...judged(slope, hours) };
  });
}

function judged({ name, most, perHour }: Omit<Slope, 'target' | 'pass'>, hours: number) {
  if (name === 'zombies' || name === 'restarts') return { target: '0', pass: most === 0 };
  if (/^gateway-\d+ memory/.test(name))
    return {
      target: `≤ ${GATEWAY_MB_PER_HOUR} an hour${hours < JUDGED_FROM_HOURS ? ', from an hour on' : ''}`,
      pass: hours < JUDGED_FROM_HOURS || perHour <= GATEWAY_MB_PER_HOUR,
    };
  return { target: '', pass: true };
}

/** By least squares. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [meanX, meanY] = [mean(([x]) => x), mean(([, y]) => y)];
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const below = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return below === 0 ? 0 : above / below;
}
