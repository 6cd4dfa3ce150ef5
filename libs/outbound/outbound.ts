// The one way out: every URL a caller gave us (webhook endpoints, images) is judged and dialled here, so that nobody
// can use this system to reach what only it can reach. What the libraries do and do not cover: docs/adr/0007-outbound-guard.md
import http from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import { type AllowList, judgeAddress, parseAllowList } from './public-address.ts';
import { makeResolve, type Resolve } from './resolve-host.ts';
import { URL_LONGEST } from './url-form.ts';

/** Why a target was refused: safe to tell the caller who gave the URL. */
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
/** Somebody waits for the answer to a registration. */
const VET_LIMIT_MS = 2_000;
/** Shorter than the five seconds after which Node's and many other servers close: a reused connection is not a dead one. */
const IDLE_LIMIT_MS = 4_000;
/** As axios sets it with every request: were ours another, each of the two would tell the system anew for every call. */
const PROBE_AFTER_MS = 60_000;
/** Endings that never mean a host on the public internet (RFC 6761, 6762, 8375, Kubernetes, clouds). */
const PRIVATE_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|svc|home\.arpa)$|^[^.]*$/;

export type Protocol = 'http:' | 'https:';

/** What to call and with which agents: no other agent may be used, and no proxy. */
export interface Target {
  /** Canonical: give this to the client and not the caller's text, so that no second parser reads it another way. */
  url: URL;
  httpAgent: http.Agent;
  httpsAgent: https.Agent;
}

export interface Outbound {
  /**
   * Judges all that needs no network: the URL's form, scheme, port, host, and the address when the host is one.
   * A name is resolved and judged by the agents when they dial; their errors are (or carry as `cause`) OutboundRefused.
   * Redirects are the caller's: do not follow, or check() each hop.
   * @param options.protocols the schemes accepted. Addresses in OUTBOUND_ALLOW accept both, and any port.
   * @throws OutboundRefused
   */
  check(text: string, options: { protocols: readonly Protocol[] }): Target;
  /**
   * Like check(), and resolves the name now: to tell whoever registers a URL. It proves nothing for later.
   * @throws OutboundRefused with the reason `dns` only when the name cannot be resolved and nothing else speaks against it.
   */
  vet(text: string, options: { protocols: readonly Protocol[] }): Promise<Target>;
  /** Ends idle connections. */
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
  // For those who accept https only: plain http leaves through it just to addresses the operator allows.
  const httpAgentToAllowed = guarded(new http.Agent(agentOptions), { ...context, protocol: 'http:', protocols: [] });
  const httpsAgent = guarded(new https.Agent(agentOptions), { ...context, protocol: 'https:', protocols: ['https:'] });

  const check: Outbound['check'] = (text, { protocols }) => {
    const url = parseTarget(text);
    const host = bareHost(url);
    const objection = objectionTo({ protocol: url.protocol, protocols, host, port: url.port });
    if (isIP(host)) judge([host], objection, allowList);
    // A name can still turn out to be allowed, if anything is.
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
  // `example.com.` is `example.com` to a resolver, but another name to certificates and lists.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  if (url.hostname.endsWith('.') || url.hostname.length > HOST_LENGTH_MAX) throw new OutboundRefused('host');
  // What is not ASCII gets longer: the canonical text is stored, and judged again at every call.
  if (url.href.length > URL_LONGEST) throw new OutboundRefused('length');
  return url;
}

/** What speaks against the target unless all its addresses are allowed ones. */
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
  // `localhost` is often 127.0.0.1 and ::1 with one of them allowed: the allowed ones, and no other, are dialled.
  const allowed = verdicts.filter(({ verdict }) => verdict === 'allowed');
  if (allowed.length > 0) return allowed.map(({ address }) => address);
  // One bad address among good ones is an attack or a mistake; the name is refused for both.
  if (verdicts.some(({ verdict }) => verdict === 'refused'))
    throw new OutboundRefused(objection === 'host' ? 'host' : 'address');
  if (objection) throw new OutboundRefused(objection);
  return addresses;
}

/** Makes the agent dial nothing but judged addresses, whoever uses it and whatever they checked before. */
function guarded<Agent extends http.Agent>(
  agent: Agent,
  rules: { allowList: AllowList; resolve: Resolve; protocol: Protocol; protocols: Protocol[] },
): Agent {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const host = withoutBrackets(String(options.host ?? 'localhost'));
    const objection = objectionTo({ ...rules, host, port: String(options.port ?? '') });
    try {
      // Node asks no lookup about a host that is an address already.
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
      // The last word is the address the packet went to, before a byte of the request has left.
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
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new OutboundRefused('dns')), limitMs);
  });
  try {
    const addresses = await Promise.race([resolve(host), limit]);
    if (addresses.length === 0) throw new OutboundRefused('dns');
    return addresses;
  } catch (error) {
    // No answer is no permission: a check that a resolver's failure switches off has been bypassed before.
    throw error instanceof OutboundRefused ? error : new OutboundRefused('dns', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

const bareHost = (url: URL) => withoutBrackets(url.hostname);
const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, '$1');
