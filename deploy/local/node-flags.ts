// Node's flags for each service: here, in the tests, and in the images (deploy/docker/Dockerfile).

/**
 * The fixed size in megabytes of each half of the young generation. docs/adr/0016-fix-young-generation-size.md has the
 * reason.
 */
const HALF_MEGABYTES = 32;

const ONE_SIZE = [`--min-semi-space-size=${HALF_MEGABYTES}`, `--max-semi-space-size=${HALF_MEGABYTES}`];

/**
 * Two malloc arenas instead of eight per core. docs/adr/0018-limit-glibc-malloc-arenas.md has the reason, and why the
 * renderer is left out.
 */
const TWO_HEAPS = { MALLOC_ARENA_MAX: '2' } as const;

const RUNS_FOR_MONTHS = ['gateway', 'mail', 'operations', 'portal', 'scheduler', 'webhooks'];

/** Returns the arguments between `node` and the file. @param service its folder in services/. */
export function nodeFlagsOf(service: string): readonly string[] {
  return isBusy(service) ? ONE_SIZE : [];
}

/** Returns the environment variables besides a service's configuration. @param service its folder in services/. */
export function nodeEnvironmentOf(service: string): Readonly<Record<string, string>> {
  return RUNS_FOR_MONTHS.includes(service) ? TWO_HEAPS : {};
}

/**
 * True for a service that allocates much for each request or delivery, and retains little. The others are idle most of
 * the time.
 */
function isBusy(service: string): boolean {
  return service === 'gateway' || service === 'webhooks';
}
