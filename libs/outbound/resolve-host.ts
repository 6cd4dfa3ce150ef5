// Finds the addresses of a host in a way that names whose server never answers cannot hold up the others.
import { lookup, Resolver } from 'node:dns/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** @returns every address of the name. Anything it throws means that the name must not be called. */
export type Resolve = (host: string) => Promise<string[]>;

/** Each server is asked in turn, so often. */
const QUERY_LIMIT_MS = 1_000;
const QUERIES = 2;
/** Some servers never answer the question for the other kind of addresses, and six questions take longer than any caller waits. */
const OTHER_KIND_MS = 500;

/**
 * Asks the name servers directly: any number at once, each with its own end.
 * The system's own resolver (getaddrinfo) has two threads for all lookups of a process; it is only asked about `isLocal` names and
 * those no server knows, which may stand in the hosts file.
 * @param options.servers in place of those of the system, as `address:port`.
 */
export function makeResolve(options: { isLocal: (host: string) => boolean; servers?: string[] }): Resolve {
  return async (host) => {
    if (options.isLocal(host)) return askSystem(host);
    // A new one each time: the system's servers may have changed since.
    const resolver = new Resolver({ timeout: QUERY_LIMIT_MS, tries: QUERIES, maxTimeout: QUERY_LIMIT_MS });
    if (options.servers) resolver.setServers(options.servers);
    const addresses: string[] = [];
    const queries = [resolver.resolve4(host), resolver.resolve6(host)].map(async (query) => {
      addresses.push(...(await query));
    });
    const first = Promise.any(queries).then(
      () => pause(OTHER_KIND_MS, undefined, { ref: false }),
      () => undefined,
    );
    const settled = Promise.allSettled(queries);
    await Promise.race([settled, first]);
    // One kind may be missing, late or fail: only addresses that were seen, and judged, are ever dialled.
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

/** No server knows it, or there is no server: then the hosts file may. */
function isUnknown(error: Error): boolean {
  return ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'].includes((error as NodeJS.ErrnoException).code ?? '');
}

async function askSystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
