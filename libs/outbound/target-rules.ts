// The rules for targets of outgoing calls: the form of a URL, its host, and the addresses behind it.
import { isIP } from 'node:net';
import { type AllowList, judgeAddress } from './public-address.ts';
import { URL_LONGEST } from './url-form.ts';

/** The reason for refusing a target. It is safe to show to the caller that supplied the URL. */
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
/** Suffixes that never name a public host (RFC 6761, 6762, 8375, Kubernetes, clouds). */
const PRIVATE_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|svc|home\.arpa)$|^[^.]*$/;

export type Protocol = 'http:' | 'https:';

/** True for a host name that is never public. */
export const isPrivateName = (host: string) => PRIVATE_NAME.test(host);

/** Parses a URL. @returns its canonical form. @throws OutboundRefused */
export function parseTarget(text: string): URL {
  if (text.length > URL_LONGEST) throw new OutboundRefused('length');
  const url = URL.parse(text);
  if (!url) throw new OutboundRefused('malformed');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundRefused('scheme');
  if (url.username || url.password) throw new OutboundRefused('userinfo');
  // A resolver treats `example.com.` as `example.com`, but certificates and lists do not.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  if (url.hostname.endsWith('.') || url.hostname.length > HOST_LENGTH_MAX) throw new OutboundRefused('host');
  // The canonical text is stored and checked at every call, and is longer than the input where that is not ASCII.
  if (url.href.length > URL_LONGEST) throw new OutboundRefused('length');
  return url;
}

/** Returns the objection to a target. Only allowed addresses override it. */
export function objectionTo(target: {
  protocol: string;
  protocols: readonly string[];
  host: string;
  port: string;
}): RefusalReason | undefined {
  if (!target.protocols.includes(target.protocol)) return 'scheme';
  return objectionToPlace(target, WEB_PORTS);
}

const WEB_PORTS = ['', '80', '443'];
const MAIL_PORTS = ['25', '465', '587'];

/** Returns the objection to a mail server. Only allowed addresses override it. */
export function objectionToMailServer({ host, port }: { host: string; port: number }): RefusalReason | undefined {
  return objectionToPlace({ host, port: String(port) }, MAIL_PORTS);
}

function objectionToPlace(
  { host, port }: { host: string; port: string },
  ports: readonly string[],
): RefusalReason | undefined {
  if (!ports.includes(port)) return 'port';
  return !isIP(host) && isPrivateName(host) ? 'host' : undefined;
}

/** Checks addresses. @returns those that may be dialled. @throws OutboundRefused */
export function judge(addresses: string[], objection: RefusalReason | undefined, allowList: AllowList): string[] {
  const verdicts = addresses.map((address) => ({ address, verdict: judgeAddress(address, allowList) }));
  // `localhost` is often 127.0.0.1 and ::1, and the operator allows only one of them. Only allowed addresses are
  // dialled.
  const allowed = verdicts.filter(({ verdict }) => verdict === 'allowed');
  if (allowed.length > 0) return allowed.map(({ address }) => address);
  // One private address among public ones is an attack or a mistake, so the whole name is refused.
  if (verdicts.some(({ verdict }) => verdict === 'refused'))
    throw new OutboundRefused(objection === 'host' ? 'host' : 'address');
  if (objection) throw new OutboundRefused(objection);
  return addresses;
}

/** Returns the host of a URL without the brackets around an IPv6 address. */
export const bareHost = (url: URL) => withoutBrackets(url.hostname);

export const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, '$1');
