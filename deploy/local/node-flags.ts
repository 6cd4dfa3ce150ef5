// Node's flags for each service: here, in the tests, and in the images (deploy/docker/Dockerfile).

/** Fixed size in megabytes of each half of the young generation. Why not V8's default: docs/adr/0016-fix-young-generation-size.md */
const HALF_MEGABYTES = 32;

const ONE_SIZE = [`--min-semi-space-size=${HALF_MEGABYTES}`, `--max-semi-space-size=${HALF_MEGABYTES}`];

/** Two malloc arenas instead of eight per core. Why, and why not in the renderer: docs/adr/0018-limit-glibc-malloc-arenas.md */
const TWO_HEAPS = { MALLOC_ARENA_MAX: '2' } as const;

const RUNS_FOR_MONTHS = ['gateway', 'operations', 'scheduler', 'webhooks'];

/** @param service its folder in services/. @returns the arguments between `node` and the file. */
export function nodeFlagsOf(service: string): readonly string[] {
  return isBusy(service) ? ONE_SIZE : [];
}

/** @param service its folder in services/. @returns environment variables besides its configuration. */
export function nodeEnvironmentOf(service: string): Readonly<Record<string, string>> {
  return RUNS_FOR_MONTHS.includes(service) ? TWO_HEAPS : {};
}

/** Allocates much for each request or delivery, and retains little. The dashboard and the scheduler are idle most of the time. */
function isBusy(service: string): boolean {
  return service === 'gateway' || service === 'webhooks';
}
