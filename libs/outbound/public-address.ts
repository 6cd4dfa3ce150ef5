// Classifies one IP address: public, allowed by the operator, or refused.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ConfigError } from '../service/config-error.ts';

/** `public`: globally routable. `allowed`: inside a CIDR that the operator named. `refused`: everything else. */
export type AddressVerdict = 'public' | 'allowed' | 'refused';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AllowList = ReadonlyArray<readonly [Address, number]>;

/** The only IPv6 block allocated for the public internet. The library also calls other blocks `unicast`. */
const IPV6_PUBLIC = ipaddr.parseCIDR('2000::/3');
/** The host service of every Azure virtual machine, inside a range that looks public. */
const AZURE_HOST = '168.63.129.16';

/**
 * Parses the operator's list.
 * @param text comma-separated CIDRs or addresses, such as `127.0.0.0/8,::1`. Empty allows nothing.
 * @throws ConfigError that names every entry that is neither.
 */
export function parseAllowList(text: string): AllowList {
  const problems: string[] = [];
  const list: Array<readonly [Address, number]> = [];
  for (const entry of text.split(',').map((part) => part.trim())) {
    if (entry === '') continue;
    const [address = '', prefix] = entry.split('/');
    const version = isIP(address);
    const bitsMax = version === 4 ? 32 : 128;
    const bits = prefix === undefined ? bitsMax : Number(prefix);
    // The library's parser accepts `010.1` as an address, so isIP decides.
    if (version === 0 || !/^\d{1,3}$/.test(prefix ?? '0') || bits > bitsMax) {
      problems.push(`OUTBOUND_ALLOW holds ${entry}, which is not a CIDR such as 10.0.0.0/8`);
    } else list.push([ipaddr.parse(address), bits]);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return list;
}

/** Classifies an address. @param text an address as the resolver or a socket gives it. Any other text is refused. */
export function judgeAddress(text: string, allowList: AllowList): AddressVerdict {
  if (isIP(text) === 0) return 'refused';
  const parsed = ipaddr.parse(text);
  // ::ffff:127.0.0.1 reaches 127.0.0.1, so the mapped address counts.
  const address = parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() ? parsed.toIPv4Address() : parsed;
  if (allowList.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits)))
    return 'allowed';
  // NAT64, 6to4 and Teredo embed an IPv4 address. The library names these ranges; only `unicast` passes.
  if (address.range() !== 'unicast' || address.toString() === AZURE_HOST) return 'refused';
  return address instanceof ipaddr.IPv6 && !address.match(IPV6_PUBLIC) ? 'refused' : 'public';
}
