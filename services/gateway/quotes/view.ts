// Quotes as the API returns them, with what they refer to and the status of today.

import { dayIn } from '#libs/day.ts';
import { embeddedIn } from '#libs/models/billing/embedded.ts';
import { effectiveQuoteStatus, type QuoteRecord, quoteView } from '#libs/models/billing/quote.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { Session } from '#libs/mongo/connection.ts';
import type { Profile } from '../http/route.ts';

export async function viewOf(
  quote: QuoteRecord,
  { accountId, account }: { accountId: Id; account: Profile },
  { session }: { session?: Session | undefined } = {},
) {
  const today = dayIn(account.time_zone);
  const embedded = await embeddedIn([quote], accountId, session);
  return quoteView(quote, { ...embedded(quote), status: effectiveQuoteStatus(quote, today) });
}

export async function viewsOf(quotes: QuoteRecord[], accountId: Id, today: string) {
  const embedded = await embeddedIn(quotes, accountId);
  return quotes.map((quote) => quoteView(quote, { ...embedded(quote), status: effectiveQuoteStatus(quote, today) }));
}
