// The guard for outgoing calls. It checks and dials every URL from a caller (webhook endpoints, images), so that no
// caller can reach private addresses through this system. docs/adr/0007-outbound-guard.md says which part of it is
// libraries.
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { guarded, resolveOnce } from './guarded-agent.ts';
import { type MailPlace, vetMailServer } from './mail-place.ts';
import { parseAllowList } from './public-address.ts';
import { makeResolve, type Resolve } from './resolve-host.ts';
import {
  bareHost,
  isPrivateName,
  judge,
  OutboundRefused,
  objectionTo,
  type Protocol,
  parseTarget,
} from './target-rules.ts';

/** A shorter limit, because a caller waits for the response to a registration. */
const VET_LIMIT_MS = 2_000;
/**
 * Shorter than the five seconds after which Node's and many other servers close, so that no closed connection is
 * reused.
 */
const IDLE_LIMIT_MS = 4_000;
/** The value that axios sets with every request. Another value would cost two system calls per request. */
const PROBE_AFTER_MS = 60_000;
/** The URL to call and the agents to use. No other agent and no proxy may be used. */
interface Target {
  /**
   * The URL in canonical form. Pass it to the HTTP client instead of the caller's text, so that no second parser reads
   * it differently.
   */
  url: URL;
  httpAgent: http.Agent;
  httpsAgent: https.Agent;
}

export interface Outbound {
  /**
   * Checks everything that needs no network: form, scheme, port and host of the URL, and the address when the host is
   * one.
   * - The agents resolve names and check their addresses when they dial. Their errors are (or carry as `cause`)
   *   OutboundRefused.
   * - Do not follow redirects, or call check() for each hop.
   * @param options.protocols the schemes accepted. Addresses in OUTBOUND_ALLOW accept both, and any port.
   * @throws OutboundRefused
   */
  check(text: string, options: { protocols: readonly Protocol[] }): Target;
  /**
   * Checks as check() does, and also resolves the name now, for early feedback on a registration. It proves nothing for
   * later calls.
   * @throws OutboundRefused with the reason `dns` only when the name cannot be resolved and there is no other
   * objection.
   */
  vet(text: string, options: { protocols: readonly Protocol[] }): Promise<Target>;
  /**
   * Checks the place of a mail server now, for early feedback. It proves nothing for later: dial-mail-server.ts checks
   * again.
   * @throws OutboundRefused
   */
  vetMailServer(place: MailPlace): Promise<void>;
  /** Closes idle connections. */
  close(): void;
}

/**
 * Opens the guard.
 * @param options.allow comma-separated CIDRs (OUTBOUND_ALLOW).
 * @param options.resolve replaces the system's resolver in tests.
 * @throws ConfigError when `allow` is not a list of CIDRs.
 */
export function openOutbound(options: { allow: string; resolve?: Resolve; keepAlive?: boolean }): Outbound {
  const allowList = parseAllowList(options.allow);
  const resolve = options.resolve ?? makeResolve({ isLocal: isPrivateName });
  const agentOptions = {
    keepAlive: options.keepAlive ?? false,
    keepAliveMsecs: PROBE_AFTER_MS,
    maxFreeSockets: 64,
    timeout: IDLE_LIMIT_MS,
  };
  const context = { allowList, resolve };
  const httpAgent = guarded(new http.Agent(agentOptions), { ...context, protocol: 'http:', protocols: ['http:'] });
  // An https-only check permits plain http only to addresses that the operator allows.
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
    vetMailServer: (place) => vetMailServer(place, { allowList, resolve, limitMs: VET_LIMIT_MS }),
    close() {
      for (const agent of [httpAgent, httpAgentToAllowed, httpsAgent]) agent.destroy();
    },
  };
}
