// Makes a link to an issued document, or to all open documents of a client.
import { appError } from '../../errors.ts';
import { DOCUMENT_LINKS_MAX, DocumentLink, type DocumentLinkRecord } from '../../models/portal/document-link.ts';
import { driverOf, insertOwn } from '../../models/records.ts';
import { newRecord, type StoredId, storedId } from '../../models/tenant.ts';
import { hashToken, makeToken } from '../../models/token.ts';
import type { LinkSubject, LinkTerms } from '../../rules/documents/link-terms.ts';
import type { SecretBox } from '../../secret-box.ts';
import { namedClient } from '../documents/named-client.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

export interface NewLink {
  type: LinkSubject;
  /** The invoice or the quote as it was read in this unit of work; for a client, the client. */
  record: { _id: StoredId; client_id?: StoredId; status?: string | undefined };
  terms: LinkTerms;
  /** Seals the token, so that the account can read the link again. A link in a mail needs none. */
  box?: SecretBox | undefined;
  /** The message that carries the link, with the token that its mail was made with. */
  mailed?: { messageId: StoredId; token: string } | undefined;
  requestId?: string | undefined;
}

/**
 * Makes a link. The caller checks that its request may see the document and do what the terms allow, because the acts
 * of the page have no key that could be checked.
 * @returns the stored link, and its token for linkUrl.
 * @throws AppError
 * - 409 for a draft,
 * - 409 when the client was anonymised,
 * - 409 when callers made DOCUMENT_LINKS_MAX links of the document that are not revoked.
 */
export async function makeLink(
  { session, accountId }: UnitOfWork,
  { type, record, terms, box, mailed, requestId }: NewLink,
): Promise<{ link: DocumentLinkRecord; token: string }> {
  if (record.status === 'Draft') throw appError('link_of_draft');
  // Under the lock of the client, two requests at once cannot both make the last link, and no anonymisation misses one.
  const client = await namedClient(accountId, record.client_id ?? record._id, session);
  if (!mailed) await requireFew(record._id, { session, accountId });
  const token = mailed?.token ?? makeToken();
  const link: DocumentLinkRecord = {
    ...newRecord(accountId),
    subject_type: type,
    subject_id: record._id,
    client_id: client._id,
    hash: hashToken(token),
    ...(box ? { sealed: box.seal(token) } : {}),
    ...(mailed ? { message_id: mailed.messageId } : {}),
    allow: [...terms.allow],
    show_time: terms.show_time,
    ...(terms.show_statement ? { show_statement: true as const } : {}),
    ...(terms.expires_at ? { expires_at: terms.expires_at } : {}),
    opens: 0,
    ...(requestId ? { request_id: requestId } : {}),
  };
  await insertOwn(DocumentLink, link, session);
  return { link, token };
}

/** Returns the address of the page. @param portalUrl the public address of the portal. */
export function linkUrl(portalUrl: string, token: string): string {
  return new URL(`/p/${token}`, portalUrl).href;
}

async function requireFew(subject_id: StoredId, { session, accountId }: Pick<UnitOfWork, 'session' | 'accountId'>) {
  const live = { account_id: storedId(accountId), subject_id, revoked_at: null, message_id: null } as object;
  const count = await driverOf(DocumentLink).countDocuments(live, { session, limit: DOCUMENT_LINKS_MAX });
  if (count >= DOCUMENT_LINKS_MAX) throw appError('link_limit_reached', { limit: DOCUMENT_LINKS_MAX });
}
