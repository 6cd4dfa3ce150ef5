// The rules for the place of a mail server that an account names.
import { isIP } from 'node:net';
import { resolveOnce } from './guarded-agent.ts';
import type { AllowList } from './public-address.ts';
import type { Resolve } from './resolve-host.ts';
import { bareHost, judge, OutboundRefused, objectionToMailServer, parseTarget } from './target-rules.ts';

export interface MailPlace {
  host: string;
  port: number;
}

export interface MailRules {
  allowList: AllowList;
  resolve: Resolve;
}

/** Returns the host in its canonical form, as every URL parser reads it. @throws OutboundRefused */
export function canonicalHost(host: string): string {
  const url = parseTarget(`http://${host}/`);
  if (url.pathname !== '/' || url.port || url.search || url.hash) throw new OutboundRefused('malformed');
  return bareHost(url);
}

/**
 * Returns the addresses that may be dialled, each of which was checked.
 * @throws OutboundRefused
 */
export async function mailAddresses(
  { host, port }: MailPlace,
  { allowList, resolve, limitMs }: MailRules & { limitMs: number },
): Promise<string[]> {
  const name = canonicalHost(host);
  const objection = objectionToMailServer({ host: name, port });
  if (isIP(name)) return judge([name], objection, allowList);
  // A name may still resolve to an allowed address.
  if (objection && allowList.length === 0) throw new OutboundRefused(objection);
  const addresses = await resolveOnce(name, resolve, limitMs).catch((error: OutboundRefused) => {
    throw objection ? new OutboundRefused(objection, { cause: error }) : error;
  });
  return judge(addresses, objection, allowList);
}

/** @throws OutboundRefused with the reason `dns` only when the name cannot be resolved and there is no other objection. */
export async function vetMailServer(place: MailPlace, rules: MailRules & { limitMs: number }): Promise<void> {
  await mailAddresses(place, rules);
}
