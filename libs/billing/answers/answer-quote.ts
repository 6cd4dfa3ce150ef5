// The client's answer to a quote on its page: accept it with evidence, or decline it.
import { dayIn } from '../../day.ts';
import { printedContent } from '../../documents/printed-content.ts';
import { readAccount } from '../../models/accounts/account.ts';
import { lastEvidence, QuoteEvidence } from '../../models/answers/quote-evidence.ts';
import { embeddedIn } from '../../models/billing/embedded.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { effectiveQuoteStatus, Quote, type QuoteRecord, quoteView } from '../../models/billing/quote.ts';
import type { Signer } from '../../models/operations/signing-key.ts';
import { findOwn, insertOwn } from '../../models/records.ts';
import { type Id, newRecord, type StoredId } from '../../models/tenant.ts';
import { offeredContent, statementOf } from '../../rules/quotes/evidence.ts';
import { acceptedFields, storeQuote } from '../quotes/store-quote.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import type { Visitor } from './visitor.ts';

/** The most acceptances of one quote. Between two of them its owner withdraws the first. */
const ACCEPTANCES_MAX = 20;

/**
 * The outcome of an answer.
 * - `done`: the quote has the new status.
 * - `done before`: it had it already, as after a second click.
 * - `changed`: it is not what the client saw.
 * - `expired`: its last day has passed.
 * - `not open`: it was answered otherwise, withdrawn or deleted, or accepted too often.
 */
export type AnswerOutcome = 'done' | 'done before' | 'changed' | 'expired' | 'not open';

export interface Accepting {
  id: Id | StoredId;
  /** The fingerprint of the quote that the client saw, see printedContent. */
  content: string;
  /** The name that the client typed. */
  name: string;
  /** The sentence that the client agreed to. */
  agreement: string;
  /** The client's own order number. It becomes the reference of a quote that has none. */
  order_number?: string | undefined;
  /** The signature that the client drew, as drawnSignature returns it. */
  drawn?: Buffer | undefined;
  /** The SHA-256 of the original of this content. Absent when none could be kept. */
  pdf_sha256?: string | undefined;
  visitor: Visitor;
  signer: Signer;
}

/** Accepts a quote and keeps the evidence in the same transaction. Of two calls at once one accepts it. */
export async function acceptAsClient(unit: UnitOfWork, accepting: Accepting): Promise<AnswerOutcome> {
  const { session, accountId } = unit;
  const account = await readAccount(accountId, session);
  const today = dayIn(account.time_zone);
  const quote = await findOwn(Quote, accountId, accepting.id, session);
  const refused = refusal(quote, today, { done: 'Accepted', content: accepting.content });
  if (!quote || refused) return refused ?? 'not open';
  const { visitor, signer, drawn, name, agreement, order_number, pdf_sha256 } = accepting;
  const sequence = ((await lastEvidence(accountId, quote._id, session))?.sequence ?? 0) + 1;
  if (sequence > ACCEPTANCES_MAX) return 'not open';
  const fields = await acceptedFields(unit, quote, 'client');
  // The owner's own reference stays.
  if (order_number && !quote.order_reference) fields.order_reference = order_number;
  const embedded = await embeddedIn([quote], accountId, session);
  const content = offeredContent(quoteView(quote, { ...embedded(quote), status: 'Sent' }));
  const statement = statementOf({
    quote: { id: String(quote._id), number: printedNumber('quote', quote) },
    account: { id: accountId, name: account.company || account.name },
    client_id: String(quote.client_id),
    link_id: visitor.linkId,
    accepted_at: fields.acceptance?.at ?? new Date(),
    address: visitor.address,
    browser: visitor.browser,
    ...{ name, agreement, order_number, content, pdf_sha256, drawn },
  });
  const evidence = {
    ...newRecord(accountId),
    quote_id: quote._id,
    client_id: quote.client_id,
    ...{ sequence, statement, content, drawn },
    signature: signer.sign(statement),
    key_id: signer.keyId,
  };
  await insertOwn(QuoteEvidence, evidence, session);
  await storeQuote(unit, quote, fields, { status: 'Accepted', isMoved: true, today, evidence: evidence._id });
  return 'done';
}

export interface Declining {
  id: Id | StoredId;
  /** See Accepting. */
  content: string;
  /** In the client's words. */
  reason?: string | undefined;
}

/** Declines a quote. */
export async function declineAsClient(unit: UnitOfWork, { id, content, reason }: Declining): Promise<AnswerOutcome> {
  const { session, accountId } = unit;
  const today = dayIn((await readAccount(accountId, session)).time_zone);
  const quote = await findOwn(Quote, accountId, id, session);
  const refused = refusal(quote, today, { done: 'Declined', content });
  if (!quote || refused) return refused ?? 'not open';
  const decline = { at: new Date(), ...(reason ? { reason } : {}) };
  const changes: Partial<QuoteRecord> = { status: 'Declined', expires_on: undefined, decline };
  await storeQuote(unit, quote, changes, { status: 'Declined', isMoved: true, today });
  return 'done';
}

/** Returns the outcome when the quote cannot be answered. */
function refusal(
  quote: QuoteRecord | null,
  today: string,
  { done, content }: { done: 'Accepted' | 'Declined'; content: string },
): AnswerOutcome | undefined {
  if (!quote) return 'not open';
  const status = effectiveQuoteStatus(quote, today);
  if (status === done) return 'done before';
  if (status === 'Expired') return 'expired';
  if (status !== 'Sent') return 'not open';
  return content === printedContent('quote', quote) ? undefined : 'changed';
}
