// Runs long work in slices, so that a document of many pages does not keep the process from serving others.

/** Work that may be interrupted wherever it yields. */
export type Slices<Result> = Generator<void, Result>;

/** The length of a slice. Short documents take less and are never interrupted. */
const SLICE_MS = 8;

/** Runs work, and lets the process do other work whenever a slice has taken long enough. */
export async function inSlices<Result>(work: Slices<Result>): Promise<Result> {
  let until = performance.now() + SLICE_MS;
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() < until) continue;
    await new Promise((resolve) => setImmediate(resolve));
    until = performance.now() + SLICE_MS;
  }
}

/** Runs short work without interruption. */
export function atOnce<Result>(work: Slices<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
