// Durations by class: each class is wider than the one before by the same factor, so that a few counts stand for any number of durations.

/** A width of 1.25 puts the seconds of a request into fewer than 50 classes, and a quantile is right within an eighth. */
export const REQUEST_CLASS_WIDTH = 1.25;

/** Returns the class of a duration. Everything below a millisecond is in class 0. */
export function durationClass(ms: number, width: number): number {
  return Math.floor(Math.log(Math.max(ms, 1)) / Math.log(width));
}

/** Returns the duration in milliseconds that `share` of all take at most: the middle of its class. Undefined when there are none. */
export function durationQuantile(
  counts: readonly (readonly [durationClass: number, count: number])[],
  share: number,
  width: number,
): number | undefined {
  const wanted = counts.reduce((sum, [, count]) => sum + count, 0) * share;
  let seen = 0;
  for (const [each, count] of counts.toSorted(([one], [other]) => one - other)) {
    seen += count;
    if (seen >= wanted) return Math.round(width ** (each + 0.5));
  }
  return undefined;
}
