// Retries one message, for its button and for runs over many.
import { type RetryOutcome, retryMessage } from '#libs/billing/messages/retry-message.ts';
import { runUnitOfWork } from '#libs/billing/unit-of-work.ts';

/** Retries a message in a unit of work of its account. The mail service finds it within seconds. */
export async function retryInUnit(accountId: string, id: string): Promise<RetryOutcome | undefined> {
  const { result } = await runUnitOfWork({ accountId, by: { type: 'operator' } }, (unit) => retryMessage(unit, id));
  return result;
}
