// How Node is told to run a service, wherever one is started: here, in the tests, and in the images (deploy/docker/Dockerfile).

/** Megabytes of each half of the young generation, which keeps that size. Why not V8's own choice: docs/adr/0016-one-size-of-the-young-generation.md */
const HALF_MEGABYTES = 32;

const ONE_SIZE = [`--min-semi-space-size=${HALF_MEGABYTES}`, `--max-semi-space-size=${HALF_MEGABYTES}`];

/** Two heaps of the C library at most instead of eight for each core. Why, and why not in the renderer: docs/adr/0018-limit-glibc-malloc-arenas.md */
const TWO_HEAPS = { MALLOC_ARENA_MAX: '2' } as const;

/** @param service its folder in services/. @returns what stands between `node` and the file. */
export function nodeFlagsOf(service: string): readonly string[] {
  return isSteady(service) ? ONE_SIZE : [];
}

/** @param service its folder in services/. @returns what its process has in its environment besides its configuration. */
export function nodeEnvironmentOf(service: string): Readonly<Record<string, string>> {
  return isSteady(service) ? TWO_HEAPS : {};
}

/** Runs for months, and holds the same all the time. */
function isSteady(service: string): boolean {
  return service === 'gateway' || service === 'webhooks';
}
