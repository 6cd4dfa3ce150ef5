// How Node is told to run a service, wherever one is started: here, in the tests, and in the images (deploy/docker/Dockerfile).

/** Megabytes of each half of the young generation, which keeps that size. Why not V8's own choice: docs/adr/0016-one-size-of-the-young-generation.md */
const HALF_MEGABYTES = 32;

const ONE_SIZE = [`--min-semi-space-size=${HALF_MEGABYTES}`, `--max-semi-space-size=${HALF_MEGABYTES}`];

/** @param service its folder in services/. @returns what stands between `node` and the file. */
export function nodeFlagsOf(service: string): readonly string[] {
  return service === 'gateway' || service === 'webhooks' ? ONE_SIZE : [];
}

/** Of every service's process. Two heaps of the C library at most instead of eight for each core, see docs/adr/0018-two-heaps-of-malloc.md */
export const nodeEnvironment = { MALLOC_ARENA_MAX: '2' } as const;
