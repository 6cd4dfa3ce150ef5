// Answers of clients, as their page gives them, for tests of what becomes of them.
import { type Accepting, acceptAsClient, declineAsClient } from '#libs/billing/answers/answer-quote.ts';
import { type Asking, askQuestion } from '#libs/billing/answers/ask-question.ts';
import { promisePayment } from '#libs/billing/answers/promise-payment.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { printedContent } from '#libs/documents/printed-content.ts';
import { Quote } from '#libs/models/billing/quote.ts';
import { openSigner } from '#libs/models/operations/signing-key.ts';
import { findOwn } from '#libs/models/records.ts';
import { type Id, newId } from '#libs/models/tenant.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { inUnit } from './messages.ts';
import type { Workspace } from './workspace.ts';

const VISITOR = {
  linkId: newId(),
  address: '203.0.113.7',
  browser: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0',
};
const CLIENT = { type: 'client', id: VISITOR.linkId } as const;

/** Accepts a sent quote as it is now. */
export async function accept(
  { secretKey }: Pick<Workspace, 'secretKey'>,
  accountId: Id,
  id: Id,
  given: Partial<Accepting> = {},
) {
  const signer = await openSigner(openSecretBox(secretKey));
  const quote = await findOwn(Quote, accountId, id);
  if (!quote) throw new Error(`the quote ${id} is gone`);
  const agreement = 'I accept quote QUO-0001 over EUR 100.00.';
  const content = printedContent('quote', quote);
  const accepting = { id, content, name: 'Ada Lovelace', agreement, visitor: VISITOR, signer, ...given };
  return inUnit(accountId, (unit) => acceptAsClient(unit, accepting), CLIENT);
}

/** Declines a sent quote as it is now. */
export async function decline(accountId: Id, id: Id, reason?: string) {
  const quote = await findOwn(Quote, accountId, id);
  if (!quote) throw new Error(`the quote ${id} is gone`);
  const content = printedContent('quote', quote);
  return inUnit(accountId, (unit: UnitOfWork) => declineAsClient(unit, { id, content, reason }), CLIENT);
}

export const promise = (accountId: Id, id: Id, day: string) =>
  inUnit(accountId, (unit: UnitOfWork) => promisePayment(unit, { id, day, visitor: VISITOR }), CLIENT);

export const ask = (accountId: Id, asking: Omit<Asking, 'visitor'> & Partial<Asking>) =>
  inUnit(accountId, (unit: UnitOfWork) => askQuestion(unit, { visitor: VISITOR, ...asking }), CLIENT);
