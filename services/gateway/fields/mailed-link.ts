// The link to the page of a document that its mail carries, and the scopes of what mails and links show.
import { allows, type Scope } from '#libs/models/accounts/api-key.ts';
import type { MailedKind, MailedLink, MessageRecord } from '#libs/models/messages/message.ts';
import { ACTS_OF, type LinkAct, type LinkSubject } from '#libs/rules/documents/link-terms.ts';
import type { Caller } from '../http/route.ts';

/** The scopes that read each kind of document. */
const READ_BY: Readonly<Record<MailedKind, readonly Scope[]>> = {
  invoice: ['invoices:read'],
  quote: ['quotes:read'],
  payment: ['payments:read'],
  credit_note: ['credit-notes:read'],
  statement: ['invoices:read', 'payments:read', 'credit-notes:read'],
};

/** The scopes that read what the page of a link shows. */
export const LINK_READS: Readonly<Record<LinkSubject, readonly Scope[]>> = {
  invoice: ['invoices:read'],
  quote: ['quotes:read'],
  client: ['clients:read', 'invoices:read', 'quotes:read'],
};

/** The scopes that read the statement of account besides those of a client's link. */
export const STATEMENT_READS = ['payments:read', 'credit-notes:read'] as const;

export const STATEMENT_NEEDS = {
  'payments:read': 'the page shows the statement of account',
  'credit-notes:read': 'the page shows the statement of account',
} as const;

export function mayReadStatement({ scopes }: Pick<Caller, 'scopes'>): boolean {
  return STATEMENT_READS.every((scope) => allows(scopes, scope));
}

/** A page that lets its reader accept changes a quote, so its maker must be able to do so. */
export const ACT_SCOPES: Readonly<Partial<Record<LinkAct, Scope>>> = { accept: 'quotes:write' };

/**
 * Returns the link of a mail. Its reader may accept a quote only where the caller may.
 * @param wanted.show_time wanted by a caller that may read time.
 * @param wanted.within the acts of a link that it stands for, which it does not exceed.
 */
export function mailedLink(
  type: LinkSubject,
  { scopes }: Pick<Caller, 'scopes'>,
  { show_time = false, within }: { show_time?: boolean; within?: readonly LinkAct[] } = {},
): MailedLink {
  const mayAllow = (act: LinkAct) =>
    (ACT_SCOPES[act] === undefined || allows(scopes, ACT_SCOPES[act])) && (within?.includes(act) ?? true);
  return { type, allow: ACTS_OF[type].filter(mayAllow), show_time };
}

type Mailed = Pick<MessageRecord, 'document' | 'link'>;

/** The scopes that a mail may need, each with the case. A message of any kind may have a link to any page. */
export const MAIL_NEEDS = {
  'invoices:read': 'the message brings an invoice, a link to one, or a statement of account',
  'quotes:read': 'the message brings a quote or a link to one',
  'payments:read': 'the message brings a receipt or a statement of account',
  'credit-notes:read': 'the message brings a credit note or a statement of account',
  'clients:read': 'the message has a link to all documents of a client',
} as const;

/** Returns the scopes that read what the mail brings: its document, and the page of its link. */
export function scopesOfMail({ document, link }: Mailed): readonly Scope[] {
  return [...READ_BY[document.type], ...(link ? LINK_READS[link.type] : [])];
}

/** The scopes that the address of a link in a mail may need besides, each with the case. */
export const MAILED_LINK_NEEDS = {
  'links:read': 'the mail has a link',
  'quotes:write': 'the reader of the link may accept a quote',
  'time-entries:read': 'the page of the link shows the time',
  'payments:read': 'the mail brings a receipt or a statement of account, or the page of its link shows one',
  'credit-notes:read': 'the mail brings a credit note or a statement of account, or the page of its link shows one',
} as const;

interface LinkTerms {
  type: LinkSubject;
  allow: readonly LinkAct[];
  show_time: boolean;
  show_statement?: boolean | undefined;
}

/** Returns the scopes of all that the reader of a link sees and may do. Its address is for no key that lacks one. */
export function scopesOfLink({ type, allow, show_time, show_statement }: LinkTerms): readonly Scope[] {
  const acts = allow.flatMap((act) => ACT_SCOPES[act] ?? []);
  const time = show_time ? (['time-entries:read'] as const) : [];
  return [...LINK_READS[type], ...acts, ...time, ...(show_statement ? STATEMENT_READS : [])];
}

/** Returns the scopes of the address of the link in a mail. */
export function scopesOfMailedLink({ link }: Mailed): readonly Scope[] {
  return link ? ['links:read', ...scopesOfLink(link)] : [];
}
