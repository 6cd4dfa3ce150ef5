// Tells once that an invoice became overdue or a quote expired: at midnight of its account's own calendar.
// Reads show both by themselves; this is only about the event.

import { effectiveInvoiceStatus } from '#libs/billing/invoice-states.ts';
import { runUnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate } from '#libs/clock.ts';
import { dayIn, EARLIEST_ZONE } from '#libs/day.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { type EmbeddedIn, embeddedIn } from '#libs/models/billing/embedded.ts';
import { Invoice, type InvoiceRecord, invoiceView } from '#libs/models/billing/invoice.ts';
import { effectiveQuoteStatus, Quote, type QuoteRecord, quoteView } from '#libs/models/billing/quote.ts';
import { changeOwn, findOwn, type Records } from '#libs/models/records.ts';
import { acrossAccounts, type Id, type StoredId } from '#libs/models/tenant.ts';
import type { EventType } from '#libs/models/webhooks/event.ts';
import { isUnavailable } from '#libs/mongo/errors.ts';

/** So many of those that failed are named in the log. */
const NAMED_MAX = 5;

type Lapsing = InvoiceRecord | QuoteRecord;

interface Kind<Document extends Lapsing> {
  records: Records<Document>;
  /** Documents of all accounts whose day may have passed. */
  candidates(before: string): AsyncIterable<{ _id: StoredId; account_id: StoredId; expires_on: string }>;
  event: EventType;
  /** As its day has passed, whatever an older version has marked. */
  hasLapsed(document: Document, today: string): boolean;
  view(document: Document, today: string, embedded: EmbeddedIn): unknown;
}

const invoices: Kind<InvoiceRecord> = {
  records: Invoice,
  candidates: (before) => candidatesOf(Invoice, before),
  event: 'invoice.overdue',
  hasLapsed: (invoice, today) => effectiveInvoiceStatus(invoice, today) === 'Overdue',
  view: (invoice, today, embedded) =>
    invoiceView(invoice, { ...embedded(invoice), status: effectiveInvoiceStatus(invoice, today) }),
};

const quotes: Kind<QuoteRecord> = {
  records: Quote,
  candidates: (before) => candidatesOf(Quote, before),
  event: 'quote.expired',
  hasLapsed: (quote, today) => effectiveQuoteStatus(quote, today) === 'Expired',
  view: (quote, today, embedded) =>
    quoteView(quote, { ...embedded(quote), status: effectiveQuoteStatus(quote, today) }),
};

interface Round {
  now: Date;
  signal: AbortSignal | undefined;
  failures: number;
  /** The first of them. */
  named: Array<{ id: StoredId; error: unknown }>;
}

/**
 * Any number of processes may do this at once: who removes the mark writes the event, in one transaction.
 * @param signal leaves the rest to the next round, here or in another process.
 * @returns how many events. @throws when a document could not be announced, after all others were.
 */
export async function emitExpirations(now: Date = agreedDate(), signal?: AbortSignal): Promise<number> {
  const round: Round = { now, signal, failures: 0, named: [] };
  const count = (await emitAll(invoices, round)) + (await emitAll(quotes, round));
  const { failures, named } = round;
  if (failures === 0) return count;
  const ids = named.map(({ id }) => String(id)).join(', ');
  throw new Error(`${failures} documents could not be announced as lapsed, such as ${ids}`, { cause: named[0]?.error });
}

async function emitAll<Document extends Lapsing>(kind: Kind<Document>, round: Round): Promise<number> {
  const { now, signal, named } = round;
  const zones = new Map<Id, string>();
  let count = 0;
  for await (const { _id, account_id, expires_on } of kind.candidates(dayIn(EARLIEST_ZONE, now))) {
    if (signal?.aborted) break;
    try {
      const accountId = String(account_id);
      const zone = zones.get(accountId) ?? (await zoneOf(accountId));
      zones.set(accountId, zone);
      const today = dayIn(zone, now);
      if (expires_on < today && (await emitExpiration(kind, accountId, _id, today))) count += 1;
    } catch (error) {
      // Then none of them can be announced, and each would take its time to find that out.
      if (isUnavailable(error) || (error instanceof Error && isUnavailable(error.cause))) throw error;
      // It would be the first of the next round, too, and keep all others from ever being announced.
      round.failures += 1;
      if (named.length < NAMED_MAX) named.push({ id: _id, error });
    }
  }
  return count;
}

async function emitExpiration<Document extends Lapsing>(
  kind: Kind<Document>,
  accountId: Id,
  id: StoredId,
  today: string,
): Promise<boolean> {
  const { result } = await runUnitOfWork({ accountId }, async ({ session, announce }) => {
    // Read again: it may have been paid, moved or announced since.
    const document = await findOwn(kind.records, accountId, id, session);
    if (!document?.expires_on || document.expires_on >= today) return false;
    // Its status looks different from today on: whoever asks for what was updated since gets it.
    const changed = await changeOwn(kind.records, document, { expires_on: undefined } as Partial<Document>, session);
    if (document.status !== 'Sent' || !kind.hasLapsed(document, today)) return false;
    await announce(kind.event, kind.view(changed, today, await embeddedIn([changed], accountId, session)));
    return true;
  });
  return result;
}

// The scheduler works for all accounts.
function candidatesOf(model: typeof Invoice | typeof Quote, before: string) {
  return (model as typeof Invoice)
    .find({ expires_on: { $lt: before } })
    .setOptions(acrossAccounts)
    .select({ account_id: 1, expires_on: 1 })
    .lean<{ _id: StoredId; account_id: StoredId; expires_on: string }>()
    .cursor() as AsyncIterable<{ _id: StoredId; account_id: StoredId; expires_on: string }>;
}

async function zoneOf(accountId: Id): Promise<string> {
  return (await Account.findById(accountId, { time_zone: 1 }).lean())?.time_zone ?? 'UTC';
}
