// Erases what a client wrote on its page, as far as the law lets it be erased.
import { Question } from '../../models/answers/question.ts';
import { evidenceOf, QuoteEvidence, type QuoteEvidenceRecord } from '../../models/answers/quote-evidence.ts';
import { Quote, type QuoteRecord } from '../../models/billing/quote.ts';
import { changeTime } from '../../models/counter.ts';
import { driverOf, findOwn, removeOwn } from '../../models/records.ts';
import { type StoredId, storedId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/**
 * Erases the words of questions, the reasons of refusals, and the evidence of acceptances that do not stand.
 *
 * The evidence of the acceptance that a quote has, or with which it was billed, stays: it proves a contract, and a claim
 * from it (GDPR, article 17 (3) b and e). It is signed, so that nothing in it can be erased alone.
 */
export async function eraseAnswers(unit: UnitOfWork, client: { _id: StoredId }): Promise<void> {
  const { session, accountId } = unit;
  const own = { account_id: storedId(accountId), client_id: client._id } as object;
  const updated_at = await changeTime(session, accountId, new Date());
  await driverOf(Question).updateMany(
    own,
    { $set: { text: '', updated_at } as never, $unset: { answer: 1 } as never },
    { session },
  );
  await driverOf(Quote).updateMany(
    { ...own, 'decline.reason': { $exists: true } } as object,
    { $set: { updated_at }, ...WITHOUT_REASON },
    { session },
  );
  const found = await driverOf(QuoteEvidence)
    .find(own, { session, projection: { quote_id: 1 } })
    .toArray();
  for (const { _id, quote_id } of found as unknown as Pick<QuoteEvidenceRecord, '_id' | 'quote_id'>[]) {
    const quote = await findOwn(Quote, accountId, quote_id, session);
    const proof = quote && isBound(quote) ? await evidenceOf(quote, session) : undefined;
    if (proof?._id.equals(_id)) continue;
    const evidence = await findOwn(QuoteEvidence, accountId, _id, session);
    if (evidence) await removeOwn(QuoteEvidence, evidence, session);
  }
}

/** True of a quote to which its latest acceptance on the client's page binds. */
function isBound({ acceptance, converted_at }: QuoteRecord): boolean {
  return converted_at !== undefined || (acceptance?.by === 'client' && acceptance.withdrawn_at === undefined);
}

const WITHOUT_REASON = { $unset: { 'decline.reason': 1 } as never };
