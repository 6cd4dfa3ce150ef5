// Announces the quotes of invoices that changed, because a quote shows its invoices and the amount that is left to
// bill.
import { dayIn } from '../../day.ts';
import { readAccount } from '../../models/accounts/account.ts';
import { embeddedIn } from '../../models/billing/embedded.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { effectiveQuoteStatus, Quote, type QuoteRecord, quoteView } from '../../models/billing/quote.ts';
import { changeOwn, findOwn, isUnchanged } from '../../models/records.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

interface Changed {
  before: InvoiceRecord;
  /** The changed invoice. Undefined when it was deleted. */
  after: InvoiceRecord | undefined;
}

/**
 * Announces `quote.updated` for each quote whose invoices changed. Writing the quote also serves as its row lock: a conversion of the rest
 * that runs at the same moment begins again and sees the change.
 */
export async function announceQuotes(unit: UnitOfWork, changes: readonly Changed[]): Promise<void> {
  const ids = new Set(changes.filter(isShown).map(({ before }) => String(before.quote_id)));
  if (ids.size === 0) return;
  const { accountId, session } = unit;
  const changed: QuoteRecord[] = [];
  for (const id of [...ids].toSorted()) {
    const quote = await findOwn(Quote, accountId, id, session);
    if (quote) changed.push(await changeOwn(Quote, quote, {}, session));
  }
  const today = dayIn((await readAccount(accountId, session)).time_zone);
  const embedded = await embeddedIn(changed, accountId, session);
  const views = changed.map((quote) =>
    quoteView(quote, { ...embedded(quote), status: effectiveQuoteStatus(quote, today) }),
  );
  await unit.announceAll('quote.updated', views);
}

/** True when the quote shows the change of the invoice, or counts it as billed. */
function isShown({ before, after }: Changed): boolean {
  if (!before.quote_id) return false;
  if (!after) return true;
  const { status, amount, tax_amount, total_credited, is_reversed } = after;
  return !isUnchanged(before, { status, amount, tax_amount, total_credited, is_reversed });
}
