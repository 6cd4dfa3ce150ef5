// HTTP agents that only dial addresses which were checked. They resolve each name once, and check the address of the
// connection again.
import type http from 'node:http';
import { isIP, type Socket } from 'node:net';
import { withTimeout } from '../with-timeout.ts';
import type { AllowList } from './public-address.ts';
import type { Resolve } from './resolve-host.ts';
import { judge, OutboundRefused, objectionTo, type Protocol, withoutBrackets } from './target-rules.ts';

const RESOLVE_LIMIT_MS = 5_000;

/** Makes the agent dial only checked addresses, whatever its user checked before. */
export function guarded<Agent extends http.Agent>(
  agent: Agent,
  rules: { allowList: AllowList; resolve: Resolve; protocol: Protocol; protocols: Protocol[] },
): Agent {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const host = withoutBrackets(String(options.host ?? 'localhost'));
    const objection = objectionTo({ ...rules, host, port: String(options.port ?? '') });
    try {
      // Node calls no lookup for a host that is already an address.
      if (isIP(host)) judge([host], objection, rules.allowList);
    } catch (error) {
      callback?.(error as Error, undefined as never);
      return undefined;
    }
    const socket = connect(
      {
        ...options,
        lookup: (name, lookupOptions, answer) => {
          resolveOnce(name, rules.resolve, RESOLVE_LIMIT_MS)
            .then((addresses) => {
              const judged = judge(addresses, objection, rules.allowList).map((address) => ({
                address,
                family: isIP(address),
              }));
              const [first] = judged;
              if (lookupOptions.all || !first) answer(null, judged);
              else answer(null, first.address, first.family);
            })
            .catch((error: Error) => answer(error, []));
        },
      },
      callback,
    ) as Socket;
    socket.once('connect', () => {
      // The final check is the address that the connection reached, before any byte of the request is sent.
      try {
        judge([socket.remoteAddress ?? ''], objection, rules.allowList);
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
    return socket;
  };
  return agent;
}

/** Resolves a name. @throws OutboundRefused with the reason `dns` when it has no address within the limit. */
export async function resolveOnce(host: string, resolve: Resolve, limitMs: number): Promise<string[]> {
  try {
    const addresses = await withTimeout(limitMs, resolve(host));
    if (addresses.length > 0) return addresses;
  } catch (error) {
    // A failed resolution must reject. Guards that fail open here have been bypassed.
    throw new OutboundRefused('dns', { cause: error });
  }
  throw new OutboundRefused('dns');
}
