// The link to the page of a document that its mail carries.
import { allows } from '#libs/models/accounts/api-key.ts';
import type { MailedLink } from '#libs/models/messages/message.ts';
import { ACTS_OF, type LinkSubject } from '#libs/rules/documents/link-terms.ts';
import type { Caller } from '../http/route.ts';

/** Returns the link of a mail. Its reader may accept a quote only where the caller may. */
export function mailedLink(type: LinkSubject, { scopes }: Pick<Caller, 'scopes'>): MailedLink {
  const mayAccept = allows(scopes, 'quotes:write');
  return { type, allow: ACTS_OF[type].filter((act) => act !== 'accept' || mayAccept), show_time: false };
}
