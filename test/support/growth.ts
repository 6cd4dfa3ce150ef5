// How much each quantity grows during a soak, and whether it reaches a plateau where it must.
import { median } from 'es-toolkit/math/median';

export interface Reading {
  /** Since the start. */
  hours: number;
  values: Map<string, number>;
}

export interface Growth {
  name: string;
  /** Medians of the hours after the warm-up; the last hour may be shorter. */
  hourly: number[];
  most: number;
  /** Slope of the straight line nearest to all readings after the warm-up. */
  perHour: number;
  /** Empty when the row only informs. */
  target: string;
  pass: boolean;
}

const WARM_UP_HOURS = 0.5;
const WARM_UP_SHARE = 0.25;
/** A run that is shorter has no two hours to compare. */
const JUDGED_FROM_HOURS = 1.5;
/** Growth that is allowed, as a share of the lowest hourly median. Memory of V8 swings from hour to hour; a leak adds to every hour. */
const PLATEAU = 0.1;

/** Hours that do not count: caches fill, pools open. */
export const warmUpHours = (hours: number) => Math.min(WARM_UP_HOURS, hours * WARM_UP_SHARE);

export function growthOf(readings: readonly Reading[], hours: number): Growth[] {
  const warmUp = warmUpHours(hours);
  const counted = readings.filter((reading) => reading.hours >= warmUp);
  const names = [...(counted[0]?.values.keys() ?? [])];
  return names.map((name) => {
    const points = counted
      .map((reading) => [reading.hours - warmUp, reading.values.get(name) ?? Number.NaN] as const)
      .filter(([, value]) => !Number.isNaN(value));
    const growth = {
      name,
      hourly: [...Map.groupBy(points, ([hour]) => Math.floor(hour)).values()].map((hour) =>
        median(hour.map(([, value]) => value)),
      ),
      most: Math.max(...points.map(([, value]) => value)),
      perHour: slopeOf(points),
    };
    return { ...growth, ...judged(growth, hours) };
  });
}

function judged({ name, most, hourly }: Omit<Growth, 'target' | 'pass'>, hours: number) {
  if (name === 'zombies' || name === 'restarts') return { target: '0', pass: most === 0 };
  if (!/^gateway-\d+ memory/.test(name)) return { target: '', pass: true };
  const isJudged = hours >= JUDGED_FROM_HOURS;
  const target = `hourly medians within ${PLATEAU * 100} %`;
  if (!isJudged) return { target: `${target}, from ${JUDGED_FROM_HOURS} hours on`, pass: true };
  return { target, pass: Math.max(...hourly) < Math.min(...hourly) * (1 + PLATEAU) };
}

/** By least squares. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [meanX, meanY] = [mean(([x]) => x), mean(([, y]) => y)];
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const below = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return below === 0 ? 0 : above / below;
}
