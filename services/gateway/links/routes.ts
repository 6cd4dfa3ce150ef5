// Links to documents over HTTP: pages of the portal on which a client sees a document without an account.
import { linkUrl, makeLink } from '#libs/billing/links/make-link.ts';
import { agreedDate } from '#libs/clock.ts';
import { dayIn } from '#libs/day.ts';
import { appError, fieldProblem, type MissingText } from '#libs/errors.ts';
import { allows } from '#libs/models/accounts/api-key.ts';
import { Client } from '#libs/models/accounts/client.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { Quote } from '#libs/models/billing/quote.ts';
import { DocumentLink, type DocumentLinkRecord, documentLinkView } from '#libs/models/portal/document-link.ts';
import { linkEnd, settledAt } from '#libs/models/portal/link-end.ts';
import { changeOwn, findOwn, type Records, type Stamped } from '#libs/models/records.ts';
import { type Id, type StoredId, storedId } from '#libs/models/tenant.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { documentLinkResponse } from '#libs/responses/document-link.ts';
import { ACTS_OF, type LinkAct, type LinkSubject } from '#libs/rules/documents/link-terms.ts';
import { openedBy } from '#libs/secret-box.ts';
import {
  ACT_SCOPES,
  LINK_READS,
  mayReadStatement,
  STATEMENT_NEEDS,
  STATEMENT_READS,
  scopesOfLink,
} from '../fields/mailed-link.ts';
import type { ListQuery } from '../http/list.ts';
import type { GatewayParts } from '../http/parts.ts';
import { created, deleted } from '../http/response.ts';
import { ALWAYS, type Caller, type Context, type Route, route } from '../http/route.ts';
import { documentLinkList, linkId, type NewLinkBody, newLinkOf } from './input.ts';

type Linked = Stamped & { client_id?: StoredId; status?: string };

interface Subject {
  records: Records<Linked>;
  /** The word in operations, such as `createInvoiceLink`. */
  name: string;
  /** The words in their titles. */
  title: string;
  words: string;
  missing: MissingText;
}

const SUBJECTS: Readonly<Record<LinkSubject, Subject>> = {
  invoice: {
    records: Invoice as never,
    name: 'Invoice',
    title: 'an invoice',
    words: 'an invoice',
    missing: 'Invoice not found or access denied',
  },
  quote: {
    records: Quote as never,
    name: 'Quote',
    title: 'a quote',
    words: 'a quote',
    missing: 'Quote not found or access denied',
  },
  client: {
    records: Client as never,
    name: 'Client',
    title: 'a client',
    words: 'all open documents of a client',
    missing: 'Client not found or access denied',
  },
};

const missingLink = () => appError('link_not_found');

export const linkRoutes: readonly Route[] = (Object.keys(SUBJECTS) as LinkSubject[]).flatMap(routesOf);

function routesOf(type: LinkSubject): Route[] {
  const { name, title, words, missing } = SUBJECTS[type];
  const path = `/api/v1/${type}s/{id}/links`;
  const alsoReads = Object.fromEntries(LINK_READS[type].map((scope) => [scope, ALWAYS]));
  const acts = ACTS_OF[type].includes('accept') ? { 'quotes:write': 'its reader may accept a quote' } : {};
  const statement = type === 'client' ? STATEMENT_NEEDS : {};
  return [
    route({
      method: 'post',
      path,
      operation: `create${name}Link`,
      scope: 'links:write',
      alsoNeeds: { ...alsoReads, 'time-entries:read': 'the page shows the time', ...acts, ...statement },
      body: newLinkOf(type),
      missing,
      rechecksKey: true,
      docs: {
        title: `Make a link to ${title}`,
        summary: `Make a link to ${words}, for a client without an account`,
        description:
          'A reader with the address sees the page, and may do what `allow` names. It works until it expires or is revoked, ' +
          'whatever becomes of the key.',
        response: documentLinkResponse,
        conflict: appError('portal_not_set_up'),
      },
      handler: (context) => createLink(type, context),
    }),
    route({
      method: 'get',
      path,
      operation: `list${name}Links`,
      scope: 'links:read',
      query: documentLinkList.query,
      missing,
      docs: {
        title: `List the links to ${title}`,
        summary: `List the links to ${words}, newest first, with those that mails carry`,
        description:
          'The addresses are shown again, to a key that has the scopes of all that the reader of the page sees and may do. ' +
          'To another key they are null, as are those in mails: only their recipients have them.',
        response: documentLinkResponse,
      },
      handler: (context) => listLinks(type, context),
    }),
    route({
      method: 'delete',
      path: `${path}/{link_id}`,
      operation: `revoke${name}Link`,
      scope: 'links:write',
      parameters: { link_id: linkId },
      missing,
      docs: {
        title: `Revoke a link to ${title}`,
        summary: `Revoke a link to ${words} at once`,
        description: 'Its address leads nowhere from then on. The link stays in the list.',
        message: 'Link revoked',
        missingReference: 'Link not found or access denied',
      },
      handler: (context) => revokeLink(type, context),
    }),
  ];
}

async function createLink(type: LinkSubject, context: Context<NewLinkBody>) {
  const { caller, body, commit, parts, requestId, requireRecord, requireScope } = context;
  const { portalUrl, box } = parts;
  if (portalUrl === undefined) throw appError('portal_not_set_up');
  const allow = body.allow ?? ACTS_OF[type].filter((act) => mayAllow(caller, act));
  for (const act of allow) if (ACT_SCOPES[act]) requireScope(ACT_SCOPES[act]);
  if (body.show_time) requireScope('time-entries:read');
  const show_statement = type === 'client' && (body.show_statement ?? mayReadStatement(caller));
  if (show_statement) for (const scope of STATEMENT_READS) requireScope(scope);
  if (body.expires_at && body.expires_at <= agreedDate()) throw fieldProblem('expires_at', 'in_past');
  return commit(async (unit) => {
    const record = await requireRecord(SUBJECTS[type].records, unit.session);
    const expires_at = body.expires_at ?? undefined;
    const terms = { allow, show_time: body.show_time ?? false, show_statement, expires_at };
    const { link, token } = await makeLink(unit, { type, record, terms, box, requestId });
    const endsAt = linkEnd(link, await settledAt(link, dayIn(caller.account.time_zone), unit.session));
    const shown = created(documentLinkView(link, { url: linkUrl(portalUrl, token), endsAt }));
    // The idempotency record would keep the token in plain text.
    return { ...shown, replayBody: created(documentLinkView(link, { endsAt })).body };
  });
}

function mayAllow({ scopes }: Caller, act: LinkAct): boolean {
  const scope = ACT_SCOPES[act];
  return scope === undefined || allows(scopes, scope);
}

async function listLinks(type: LinkSubject, { caller, id, query, parts, requireRecord }: Context<unknown, ListQuery>) {
  const { account_id, _id: subject_id } = await requireRecord(SUBJECTS[type].records);
  const subject = { account_id, subject_type: type, subject_id };
  const settled = await settledAt(subject, dayIn(caller.account.time_zone));
  const view = (links: DocumentLinkRecord[]) =>
    links.map((link) => {
      const url = mayOpen(caller, link) ? urlOf(link, parts) : undefined;
      return documentLinkView(link, { url, endsAt: linkEnd(link, settled) });
    });
  return documentLinkList.respond({ caller, query }, view, { subject_id: storedId(id) });
}

/** True when the key has the scopes of the page: its address lets a caller see and do the same without a key. */
function mayOpen({ scopes }: Caller, { subject_type: type, ...terms }: DocumentLinkRecord): boolean {
  return scopesOfLink({ type, ...terms }).every((scope) => allows(scopes, scope));
}

function urlOf({ sealed, revoked_at }: DocumentLinkRecord, { portalUrl, box }: GatewayParts): string | undefined {
  if (portalUrl === undefined || sealed === undefined || revoked_at) return undefined;
  // A link whose key is no longer in SECRET_KEY works all the same.
  const token = openedBy(box, sealed);
  return token === undefined ? undefined : linkUrl(portalUrl, token);
}

async function revokeLink(type: LinkSubject, { caller, parameters, id, commit, requireRecord }: Context) {
  return commit(async ({ session }) => {
    await requireRecord(SUBJECTS[type].records, session);
    const link = await linkOf(id, { accountId: caller.accountId, linkId: parameters['link_id'] as Id, session });
    // A second revocation changes nothing, so that the first time stays.
    if (!link.revoked_at) await changeOwn(DocumentLink, link, { revoked_at: agreedDate() }, session);
    return deleted('Link revoked');
  });
}

async function linkOf(
  subjectId: Id,
  own: { accountId: Id; linkId: Id; session: Session },
): Promise<DocumentLinkRecord> {
  const link = await findOwn(DocumentLink, own.accountId, own.linkId, own.session);
  if (!link || String(link.subject_id) !== subjectId) throw missingLink();
  return link;
}
