// A link by which a client of the account sees a document, or all of its open ones, without an account or a key.
import type { Session } from '../../mongo/connection.ts';
import { LINK_ACTS, LINK_SUBJECTS, type LinkAct, type LinkSubject } from '../../rules/documents/link-terms.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { driverOf, lockOwn, recordsOf, type Stamped } from '../records.ts';
import { removeAllWith } from '../remove-records.ts';
import { type Id, idField, requiredIdField, type StoredId, wireId } from '../tenant.ts';
import { hashToken } from '../token.ts';

/** The most links of a document or a client that callers made and that are not revoked. Links in mails do not count. */
export const DOCUMENT_LINKS_MAX = 50;

export interface DocumentLinkRecord extends Stamped {
  subject_type: LinkSubject;
  /** The invoice, the quote or the client. */
  subject_id: StoredId;
  client_id: StoredId;
  /** SHA-256 of the token, hex. */
  hash: string;
  /** The token, sealed, so that the account can read its link again. Absent on a link that only a mail has. */
  sealed?: string | undefined;
  /** The message that carries it. */
  message_id?: StoredId | undefined;
  allow: LinkAct[];
  show_time: boolean;
  /** Absent on a link without the statement of account: that of a document, or one from before there were statements. */
  show_statement?: true | undefined;
  /** Absent for the standard life. */
  expires_at?: Date | undefined;
  revoked_at?: Date | undefined;
  /** The first time that a person looked at it. */
  opened_at?: Date | undefined;
  last_opened_at?: Date | undefined;
  /** The number of visits that are at least an hour apart. */
  opens: number;
  request_id?: string | undefined;
  /** See lockOwn. */
  lock_version?: number;
}

export const documentLinkListing: ListingOf<DocumentLinkRecord, 'created_at'> = {
  filters: ['subject_id', 'client_id'],
  orders: { created_at: '_id' },
  standard: '-created_at',
};

const linkSchema = recordSchema<DocumentLinkRecord>(
  'document_links',
  {
    subject_type: { type: String, enum: LINK_SUBJECTS, required: true },
    subject_id: requiredIdField,
    client_id: requiredIdField,
    hash: { type: String, required: true },
    sealed: String,
    message_id: idField,
    allow: { type: [{ type: String, enum: LINK_ACTS }], required: true },
    show_time: { type: Boolean, required: true },
    show_statement: Boolean,
    expires_at: Date,
    revoked_at: Date,
    opened_at: Date,
    last_opened_at: Date,
    opens: { type: Number, required: true },
    request_id: String,
    lock_version: Number,
  },
  documentLinkListing,
);
linkSchema.index({ hash: 1 }, { unique: true });

export const DocumentLink = recordsOf<DocumentLinkRecord>('DocumentLink', linkSchema);

/** Returns the link of a token unless it was revoked. The visitor is not known yet, so the query covers all accounts. */
export async function findDocumentLink(token: string): Promise<DocumentLinkRecord | null> {
  const found = await driverOf(DocumentLink).findOne({ hash: hashToken(token), revoked_at: null } as object);
  return found as DocumentLinkRecord | null;
}

/** Locks the link against a revocation in the same moment. @returns false when it was revoked. */
export async function lockLiveLink({ _id, account_id }: DocumentLinkRecord, session: Session): Promise<boolean> {
  const link = await lockOwn(DocumentLink, wireId(account_id), _id, session);
  return link !== null && !link.revoked_at;
}

/** Removes the links of a document that is deleted, or of a client with all its documents. */
export async function removeDocumentLinks(
  accountId: Id,
  of: { subject_id: StoredId } | { client_id: StoredId },
  session: Session,
): Promise<void> {
  await removeAllWith(DocumentLink, accountId, of, session, async () => undefined);
}

/**
 * Returns the link in the form of the API.
 * @param url absent in events, and where only the recipient of a mail has it.
 * @param endsAt see link-end.ts.
 */
export function documentLinkView(
  link: DocumentLinkRecord,
  { url, endsAt }: { url?: string | undefined; endsAt: Date | undefined },
) {
  const moment = (date: Date | undefined) => date?.toISOString() ?? null;
  return {
    id: String(link._id),
    subject: { type: link.subject_type, id: String(link.subject_id) },
    url: url ?? null,
    expires_at: moment(endsAt),
    show_time: link.show_time,
    allow: link.allow,
    opened_at: moment(link.opened_at),
    last_opened_at: moment(link.last_opened_at),
    opens: link.opens,
    revoked_at: moment(link.revoked_at),
    message_id: link.message_id ? String(link.message_id) : null,
    created_at: link.created_at.toISOString(),
    show_statement: link.show_statement ?? false,
  };
}
