// Resolves host names so that a name server that never responds cannot delay other lookups.
import { lookup, Resolver } from 'node:dns/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** Returns every address of the name. Any error means that the name must not be called. */
export type Resolve = (host: string) => Promise<string[]>;

/** The limit per server and try. */
const QUERY_LIMIT_MS = 1_000;
const QUERIES = 2;
/** The wait for the other address family once one has an answer. Some servers never respond for one of the two. */
const OTHER_FAMILY_MS = 500;

/**
 * Makes a resolver that queries the name servers directly, any number at once, each with its own timeout. The system's
 * resolver (getaddrinfo) has two threads for all lookups of a process. So it only serves `isLocal` names, and names
 * that no server knows, which may be in the hosts file.
 * @param options.servers replaces the system's servers, as `address:port`.
 */
export function makeResolve(options: { isLocal: (host: string) => boolean; servers?: string[] }): Resolve {
  return async (host) => {
    if (options.isLocal(host)) return askSystem(host);
    // Each lookup makes a new resolver, because the system's servers may have changed.
    const resolver = new Resolver({ timeout: QUERY_LIMIT_MS, tries: QUERIES, maxTimeout: QUERY_LIMIT_MS });
    if (options.servers) resolver.setServers(options.servers);
    const addresses: string[] = [];
    const queries = [resolver.resolve4(host), resolver.resolve6(host)].map(async (query) => {
      addresses.push(...(await query));
    });
    const first = Promise.any(queries).then(
      () => pause(OTHER_FAMILY_MS, undefined, { ref: false }),
      () => undefined,
    );
    const settled = Promise.allSettled(queries);
    await Promise.race([settled, first]);
    // One family may be absent or late. That is safe, because only addresses that were seen and checked are dialled.
    if (addresses.length > 0) {
      resolver.cancel();
      return addresses;
    }
    const answers = await settled;
    const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []));
    if (failures.every(isUnknown)) return askSystem(host);
    throw failures.find((failure) => !isUnknown(failure)) ?? new Error(`no address of ${host}`);
  };
}

/** True when no server knows the name or can be reached. The hosts file may still know it. */
function isUnknown(error: Error): boolean {
  return ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'].includes((error as NodeJS.ErrnoException).code ?? '');
}

async function askSystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
