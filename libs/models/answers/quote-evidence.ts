// The evidence of a quote that its client accepted on its page: what was shown and typed, signed by the installation.

import type { mongo } from 'mongoose';
import type { Session } from '../../mongo/connection.ts';
import type { QuoteRecord } from '../billing/quote.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { driverOf, recordsOf, type Stamped } from '../records.ts';
import { removeAllWith } from '../remove-records.ts';
import { type Id, requiredIdField, type StoredId, storedId, wireId } from '../tenant.ts';

export interface QuoteEvidenceRecord extends Stamped {
  quote_id: StoredId;
  client_id: StoredId;
  /** The number of the acceptance of this quote, from 1. The owner may have withdrawn earlier ones. */
  sequence: number;
  /** The canonical JSON that was signed, see evidence.ts. */
  statement: string;
  /** The Ed25519 signature of the statement, base64. */
  signature: string;
  /** The key of the signature, see signing-key.ts. */
  key_id: string;
  /** The canonical JSON of the quote as it was shown. */
  content: string;
  /** The signature that was drawn, a PNG. */
  drawn?: Buffer | undefined;
}

const quoteEvidenceListing: ListingOf<QuoteEvidenceRecord, 'created_at'> = {
  filters: ['quote_id', 'client_id'],
  orders: { created_at: '_id' },
  standard: '-created_at',
};

const evidenceSchema = recordSchema<QuoteEvidenceRecord>(
  'quote_evidence',
  {
    quote_id: requiredIdField,
    client_id: requiredIdField,
    sequence: { type: Number, required: true },
    statement: { type: String, required: true },
    signature: { type: String, required: true },
    key_id: { type: String, required: true },
    content: { type: String, required: true },
    drawn: Buffer,
  },
  quoteEvidenceListing,
);
// Two clicks at once are one acceptance.
evidenceSchema.index({ account_id: 1, quote_id: 1, sequence: 1 }, { unique: true });

export const QuoteEvidence = recordsOf<QuoteEvidenceRecord>('QuoteEvidence', evidenceSchema);

/** Returns the evidence of the latest acceptance by any client, or undefined when none accepted the quote on its page. */
export async function lastEvidence(
  accountId: Id,
  quoteId: StoredId,
  session?: Session,
): Promise<QuoteEvidenceRecord | undefined> {
  // The option `promoteBuffers` would make buffers of the ids, too.
  const found = (await driverOf(QuoteEvidence).findOne(
    { account_id: storedId(accountId), quote_id: quoteId } as object,
    { sort: { sequence: -1 }, ...(session ? { session } : {}) },
  )) as (Omit<QuoteEvidenceRecord, 'drawn'> & { drawn?: mongo.Binary | null }) | null;
  if (!found) return undefined;
  const { drawn, ...evidence } = found;
  return { ...evidence, ...(drawn ? { drawn: Buffer.from(drawn.value()) } : {}) };
}

/**
 * Returns the evidence of the latest acceptance of the quote, or undefined when its client never accepted it on its page.
 * That of another client, whose quote it was before, counts as none.
 */
export async function evidenceOf(
  { _id, account_id, client_id }: Pick<QuoteRecord, '_id' | 'account_id' | 'client_id'>,
  session?: Session,
): Promise<QuoteEvidenceRecord | undefined> {
  const evidence = await lastEvidence(wireId(account_id), _id, session);
  return evidence?.client_id.equals(client_id) ? evidence : undefined;
}

/** Removes the evidence of a quote that is deleted. */
export async function removeEvidence(accountId: Id, quoteId: StoredId, session: Session): Promise<void> {
  await removeAllWith(QuoteEvidence, accountId, { quote_id: quoteId }, session, async () => undefined);
}

/** Returns the evidence in the form of the API. */
export function quoteEvidenceView(evidence: QuoteEvidenceRecord) {
  const { statement, signature, key_id, content, drawn } = evidence;
  // Billhook wrote this text, see statementOf.
  const { quote, accepted_at, name, agreement, order_number, ...stated } = JSON.parse(statement) as Statement;
  const { address, browser, link_id, quote_sha256, pdf_sha256, drawn_signature_sha256 } = stated;
  return {
    id: String(evidence._id),
    quote: { id: quote.id, quote_number: quote.number },
    kind: 'simple_electronic_signature' as const,
    ...{ accepted_at, name, agreement, order_number, address, browser, link_id },
    ...{ quote_sha256, pdf_sha256, drawn_signature_sha256 },
    ...{ statement, signature, key_id },
    quote_json: content,
    drawn_signature: drawn ? `data:image/png;base64,${drawn.toString('base64')}` : null,
  };
}

interface Statement {
  quote: { id: string; number: string };
  accepted_at: string;
  name: string;
  agreement: string;
  order_number: string | null;
  address: string;
  browser: string;
  link_id: string;
  quote_sha256: string;
  pdf_sha256: string | null;
  drawn_signature_sha256: string | null;
}
