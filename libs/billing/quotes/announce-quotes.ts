// Announces the quotes of invoices that changed, because a quote shows its invoices and the amount that is left to
// bill.
import { dayIn } from '../../day.ts';
import { readAccount } from '../../models/accounts/account.ts';
import { embeddedIn } from '../../models/billing/embedded.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { WITHOUT_ISSUER } from '../../models/billing/parties.ts';
import { effectiveQuoteStatus, Quote, type QuoteRecord, quoteView } from '../../models/billing/quote.ts';
import { readWithin } from '../../models/read-within.ts';
import { changeOwn, driverOf, isUnchanged } from '../../models/records.ts';
import { storedId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

interface Changed {
  before: InvoiceRecord;
  /** The changed invoice. Undefined when it was deleted. */
  after: InvoiceRecord | undefined;
}

/** The number of quotes that are read at a time. Most requests change one, and records are large. */
const BATCH = 10;

/**
 * Announces `quote.updated` for each quote whose invoices changed. Writing the quote also serves as its row lock: a conversion of the rest
 * that runs at the same moment begins again and sees the change.
 * @throws AppError 409 when the quotes are too large together.
 */
export async function announceQuotes(unit: UnitOfWork, changes: readonly Changed[]): Promise<void> {
  const ids = new Set(changes.filter(isShown).map(({ before }) => String(before.quote_id)));
  if (ids.size === 0) return;
  const { accountId, session } = unit;
  const quotes = await readWithin<QuoteRecord>(
    driverOf(Quote).find(
      { account_id: storedId(accountId), _id: { $in: [...ids].map(storedId) } },
      { session, sort: { _id: 1 }, batchSize: BATCH, projection: WITHOUT_ISSUER },
    ),
    'quotes',
  );
  const today = dayIn((await readAccount(accountId, session)).time_zone);
  // One after the other: each shows up to 500 invoices.
  for (const quote of quotes) {
    const changed = await changeOwn(Quote, quote, {}, session);
    const embedded = await embeddedIn([changed], accountId, session);
    const status = effectiveQuoteStatus(changed, today);
    const view = quoteView(changed, { ...embedded(changed), status });
    await unit.announce('quote.updated', view, { activity: { isConsequence: true } });
  }
}

/** True when the quote shows the change of the invoice, or counts it as billed. */
function isShown({ before, after }: Changed): boolean {
  if (!before.quote_id) return false;
  if (!after) return true;
  const { status, amount, tax_amount, total_credited, is_reversed } = after;
  return !isUnchanged(before, { status, amount, tax_amount, total_credited, is_reversed });
}
