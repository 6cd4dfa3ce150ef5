// PATCH of a quote: what it changes is computed, checked, stored and announced.

import { withdrawnOrderNumber } from '#libs/billing/answers/withdrawn-order-number.ts';
import { changedTaxTerms, isTaxed, requireTaxpayers } from '#libs/billing/documents/changed-tax-terms.ts';
import { issuedFields } from '#libs/billing/documents/issue-document.ts';
import { requirePrintableContent } from '#libs/billing/documents/printable-size.ts';
import { changedReferences, requireReferences } from '#libs/billing/documents/project-of-client.ts';
import { requireBilledKept } from '#libs/billing/quotes/billed-quote.ts';
import { storeQuote } from '#libs/billing/quotes/store-quote.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { addDays, dayIn } from '#libs/day.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { expiryOf, isDayToWatch, isUnannounced, statusToStore } from '#libs/models/billing/expiry.ts';
import { effectiveQuoteStatus, Quote, type QuoteRecord, type QuoteStatus } from '#libs/models/billing/quote.ts';
import { removeOriginals } from '#libs/models/documents/original.ts';
import { changedFields, isUnchanged } from '#libs/models/records.ts';
import { changedAcceptance } from '#libs/rules/quotes/acceptance.ts';
import { changedDates } from '../fields/dates-input.ts';
import { givenReferences } from '../fields/references-input.ts';
import { givenTexts, isPrintedTextIn } from '../fields/texts-input.ts';
import { updated } from '../http/response.ts';
import type { Context } from '../http/route.ts';
import { changedMoney, requireChangeable, VALID_DAYS } from './change-quote.ts';
import type { GivenChanges, QuoteChanges } from './input.ts';
import { viewOf } from './view.ts';

export async function updateQuote({ caller, body: given, commit, requireRecord }: Context<QuoteChanges>) {
  return commit(async (unit) => changeQuote(unit, { quote: await requireRecord(Quote, unit.session), given, caller }));
}

/** Makes the changes of a caller, also for an operation that issues the quote by the way. */
export async function changeQuote(
  unit: UnitOfWork,
  { quote, given, caller }: { quote: QuoteRecord; given: QuoteChanges; caller: Context['caller'] },
) {
  const { session } = unit;
  const today = dayIn(caller.account.time_zone);
  const before = effectiveQuoteStatus(quote, today);
  const body = await withStandards(quote, given, unit);
  const isMoved = body.status !== undefined && (body.status !== before || isUnannounced(quote, body.status, 'Expired'));
  const changes = await changesOf(quote, body, { isMoved, before, today }, unit);
  await requireBilledKept(unit, quote, { next: changes, changed: changedFields(quote, changes) });
  if (isMoved) {
    const { acceptance } = changedAcceptance({ ...quote, ...changes }, before, body.status);
    if (acceptance) changes.acceptance = acceptance;
    const isWithdrawn = acceptance?.withdrawn_at !== undefined && acceptance.by === 'client';
    if (isWithdrawn) Object.assign(changes, await withdrawnOrderNumber(unit, { ...quote, ...changes }));
  }
  if (isMoved && quote.decline) changes.decline = undefined;
  // The originals name the former client, whose data could not be erased from a quote of another one.
  if (changes.client_id && !changes.client_id.equals(quote.client_id))
    await removeOriginals(unit.accountId, quote._id, session);
  if (!isMoved && isUnchanged(quote, changes)) return updated(await viewOf(quote, caller, { session }));
  return updated(await storeQuote(unit, quote, changes, { status: body.status, isMoved, today }));
}

/** Replaces a last day of null by the one that a new quote would have. */
async function withStandards(
  quote: QuoteRecord,
  given: QuoteChanges,
  { session, accountId }: UnitOfWork,
): Promise<GivenChanges> {
  if (given.expires_at !== null) return given as GivenChanges;
  const { time_zone } = await readAccount(accountId, session);
  return { ...given, expires_at: addDays(dayIn(time_zone, quote.created_at), VALID_DAYS) };
}

async function changesOf(
  quote: QuoteRecord,
  body: GivenChanges,
  { isMoved, before, today }: { isMoved: boolean; before: QuoteStatus; today: string },
  { session, accountId, warnings }: UnitOfWork,
): Promise<Partial<QuoteRecord>> {
  const unit = { session, accountId };
  const content: Partial<QuoteRecord> = {
    ...changedMoney(quote, body, isTaxed(body) ? await changedTaxTerms(unit, quote, body) : undefined),
    ...changedDates(body, 'list'),
    ...changedReferences(body),
    ...(body.description === undefined ? {} : { description: body.description || null }),
    ...givenTexts(body),
    ...givenReferences(body),
    ...(body.early_payment_discounts === undefined
      ? {}
      : { early_payment_discounts: body.early_payment_discounts ?? [] }),
  };
  requireChangeable(quote, content, before);
  if (isPrintedTextIn(content)) requirePrintableContent({ ...quote, ...content });
  await requireReferences({ document: quote, next: content, accountId, session, details: 'list' });
  if (isTaxed(body)) await requireTaxpayers(unit, { ...quote, ...content }, 'list');
  const expires_at = body.expires_at ?? quote.expires_at;
  const looks = effectiveQuoteStatus({ ...quote, expires_at }, today);
  const status = statusToStore({ stored: quote.status, looks }, body.status);
  const changes: Partial<QuoteRecord> = { ...content, status, expires_at };
  // Otherwise `expires_on` stays as the scheduler left it, so that no event is announced again for another day that has passed.
  const isWatched =
    isMoved || isDayToWatch({ expires_on: quote.expires_on, lastDay: quote.expires_at }, expires_at, today);
  if (isWatched) Object.assign(changes, expiryOf(body.status ?? status, expires_at));
  // Nothing is frozen on a draft, even one that was sent before: it is issued again.
  if (status === 'Draft' && quote.parties)
    Object.assign(changes, { parties: undefined, issue_date: content.issue_date });
  const isIssued = status !== 'Draft' && !quote.parties;
  const issuing = { kind: 'quote', isIssued, accountId, session, warnings, details: 'list' } as const;
  Object.assign(changes, await issuedFields(quote, content, issuing));
  return changes;
}
