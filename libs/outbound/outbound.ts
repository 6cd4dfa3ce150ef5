// The guard for outgoing calls: judges and dials every URL from a caller (webhook endpoints, images), so that no caller can reach
// private addresses through this system. What libraries cover and what they do not: docs/adr/0007-outbound-guard.md
import http from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import { withTimeout } from '../with-timeout.ts';
import { type AllowList, judgeAddress, parseAllowList } from './public-address.ts';
import { makeResolve, type Resolve } from './resolve-host.ts';
import { URL_LONGEST } from './url-form.ts';

/** Why a target was rejected. Safe to show to the caller that supplied the URL. */
export type RefusalReason = 'malformed' | 'length' | 'scheme' | 'userinfo' | 'host' | 'port' | 'address' | 'dns';

export class OutboundRefused extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, options: { cause?: unknown } = {}) {
    super(EXPLANATIONS[reason], options);
    this.name = 'OutboundRefused';
    this.reason = reason;
  }
}

const EXPLANATIONS: Record<RefusalReason, string> = {
  malformed: 'must be an absolute URL',
  length: 'must be at most 2048 characters',
  scheme: 'must use one of the accepted schemes',
  userinfo: 'must not hold a user name or password',
  host: 'must name a public host',
  port: 'must use port 80 or 443',
  address: 'must lead to a public address',
  dns: 'must name a host that can be resolved',
};

const HOST_LENGTH_MAX = 253; // RFC 1035.
const RESOLVE_LIMIT_MS = 5_000;
/** Shorter, because a caller waits for the response to a registration. */
const VET_LIMIT_MS = 2_000;
/** Shorter than the five seconds after which Node's and many other servers close, so that no closed connection is reused. */
const IDLE_LIMIT_MS = 4_000;
/** The value axios sets with every request. Another value would cost two system calls per request. */
const PROBE_AFTER_MS = 60_000;
/** Suffixes that never name a public host (RFC 6761, 6762, 8375, Kubernetes, clouds). */
const PRIVATE_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|svc|home\.arpa)$|^[^.]*$/;

export type Protocol = 'http:' | 'https:';

/** The URL to call and the agents to use. No other agent and no proxy may be used. */
export interface Target {
  /** Canonical. Pass this to the HTTP client instead of the caller's text, so that no second parser reads it differently. */
  url: URL;
  httpAgent: http.Agent;
  httpsAgent: https.Agent;
}

export interface Outbound {
  /**
   * Judges what needs no network: the URL's form, scheme, port, host, and the address when the host is one.
   * The agents resolve and judge names when they dial; their errors are (or carry as `cause`) OutboundRefused.
   * Do not follow redirects, or check() each hop.
   * @param options.protocols the schemes accepted. Addresses in OUTBOUND_ALLOW accept both, and any port.
   * @throws OutboundRefused
   */
  check(text: string, options: { protocols: readonly Protocol[] }): Target;
  /**
   * Like check(), and also resolves the name now, for early feedback on a registration. It proves nothing for later calls.
   * @throws OutboundRefused with the reason `dns` only when the name cannot be resolved and there is no other objection.
   */
  vet(text: string, options: { protocols: readonly Protocol[] }): Promise<Target>;
  /** Closes idle connections. */
  close(): void;
}

/**
 * @param options.allow comma-separated CIDRs (OUTBOUND_ALLOW). @param options.resolve replaces the system's resolver in tests.
 * @throws ConfigError when `allow` is not a list of CIDRs.
 */
export function openOutbound(options: { allow: string; resolve?: Resolve; keepAlive?: boolean }): Outbound {
  const allowList = parseAllowList(options.allow);
  const resolve = options.resolve ?? makeResolve({ isLocal: (host) => PRIVATE_NAME.test(host) });
  const agentOptions = {
    keepAlive: options.keepAlive ?? false,
    keepAliveMsecs: PROBE_AFTER_MS,
    maxFreeSockets: 64,
    timeout: IDLE_LIMIT_MS,
  };
  const context = { allowList, resolve };
  const httpAgent = guarded(new http.Agent(agentOptions), { ...context, protocol: 'http:', protocols: ['http:'] });
  // For https-only checks: plain http may go only to addresses that the operator allows.
  const httpAgentToAllowed = guarded(new http.Agent(agentOptions), { ...context, protocol: 'http:', protocols: [] });
  const httpsAgent = guarded(new https.Agent(agentOptions), { ...context, protocol: 'https:', protocols: ['https:'] });

  const check: Outbound['check'] = (text, { protocols }) => {
    const url = parseTarget(text);
    const host = bareHost(url);
    const objection = objectionTo({ protocol: url.protocol, protocols, host, port: url.port });
    if (isIP(host)) judge([host], objection, allowList);
    // A name may still resolve to an allowed address.
    else if (objection && allowList.length === 0) throw new OutboundRefused(objection);
    return { url, httpAgent: protocols.includes('http:') ? httpAgent : httpAgentToAllowed, httpsAgent };
  };

  return {
    check,
    async vet(text, { protocols }) {
      const target = check(text, { protocols });
      const host = bareHost(target.url);
      const objection = objectionTo({ protocol: target.url.protocol, protocols, host, port: target.url.port });
      if (isIP(host)) return target;
      const addresses = await resolveOnce(host, resolve, VET_LIMIT_MS).catch((error: OutboundRefused) => {
        throw objection ? new OutboundRefused(objection, { cause: error }) : error;
      });
      judge(addresses, objection, allowList);
      return target;
    },
    close() {
      for (const agent of [httpAgent, httpAgentToAllowed, httpsAgent]) agent.destroy();
    },
  };
}

function parseTarget(text: string): URL {
  if (text.length > URL_LONGEST) throw new OutboundRefused('length');
  const url = URL.parse(text);
  if (!url) throw new OutboundRefused('malformed');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundRefused('scheme');
  if (url.username || url.password) throw new OutboundRefused('userinfo');
  // A resolver treats `example.com.` as `example.com`; certificates and lists do not.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  if (url.hostname.endsWith('.') || url.hostname.length > HOST_LENGTH_MAX) throw new OutboundRefused('host');
  // The canonical text is stored and judged at every call, and is longer than the input where that is not ASCII.
  if (url.href.length > URL_LONGEST) throw new OutboundRefused('length');
  return url;
}

/** The objection to a target, which only allowed addresses override. */
function objectionTo(target: {
  protocol: string;
  protocols: readonly string[];
  host: string;
  port: string;
}): RefusalReason | undefined {
  if (!target.protocols.includes(target.protocol)) return 'scheme';
  if (!['', '80', '443'].includes(target.port)) return 'port';
  return !isIP(target.host) && PRIVATE_NAME.test(target.host) ? 'host' : undefined;
}

/** @returns the addresses that may be dialled. @throws OutboundRefused */
function judge(addresses: string[], objection: RefusalReason | undefined, allowList: AllowList): string[] {
  const verdicts = addresses.map((address) => ({ address, verdict: judgeAddress(address, allowList) }));
  // `localhost` is often 127.0.0.1 and ::1 with only one of them allowed: dial only the allowed ones.
  const allowed = verdicts.filter(({ verdict }) => verdict === 'allowed');
  if (allowed.length > 0) return allowed.map(({ address }) => address);
  // One private address among public ones is an attack or a mistake, so the whole name is rejected.
  if (verdicts.some(({ verdict }) => verdict === 'refused'))
    throw new OutboundRefused(objection === 'host' ? 'host' : 'address');
  if (objection) throw new OutboundRefused(objection);
  return addresses;
}

/** Makes the agent dial only judged addresses, whatever its user checked before. */
function guarded<Agent extends http.Agent>(
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

async function resolveOnce(host: string, resolve: Resolve, limitMs: number): Promise<string[]> {
  try {
    const addresses = await withTimeout(limitMs, resolve(host));
    if (addresses.length > 0) return addresses;
  } catch (error) {
    // A failed resolution must reject: guards that fail open here have been bypassed.
    throw new OutboundRefused('dns', { cause: error });
  }
  throw new OutboundRefused('dns');
}

const bareHost = (url: URL) => withoutBrackets(url.hostname);
const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, '$1');
