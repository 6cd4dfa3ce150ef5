// Writes the expiry event of each overdue invoice and expired quote, and the event of each broken promise, once, after
// midnight in the time zone of its account. Reads show the states of documents even before the event is written.
import { endPromise } from '#libs/billing/answers/promise-payment.ts';
import { runUnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate } from '#libs/clock.ts';
import { dayIn, EARLIEST_ZONE } from '#libs/day.ts';
import { firstDue } from '#libs/models/accounts/due-in-zone.ts';
import { PaymentPromise } from '#libs/models/answers/promise.ts';
import { type EmbeddedIn, embeddedIn } from '#libs/models/billing/embedded.ts';
import { Invoice, type InvoiceRecord, invoiceView } from '#libs/models/billing/invoice.ts';
import { effectiveQuoteStatus, Quote, type QuoteRecord, quoteView } from '#libs/models/billing/quote.ts';
import { openTries, type RoundName } from '#libs/models/operations/round-try.ts';
import { changeOwn, findOwn, type Records } from '#libs/models/records.ts';
import { collectFailures } from '#libs/models/rounds.ts';
import { acrossAccounts, type Id, type StoredId } from '#libs/models/tenant.ts';
import type { EventType } from '#libs/models/webhooks/event-types.ts';
import { effectiveInvoiceStatus } from '#libs/rules/documents/invoice-states.ts';
import { byAccount, type Direction, eachAccount, firstAndLast } from './by-account.ts';

type Expiring = InvoiceRecord | QuoteRecord;

interface Candidate {
  _id: StoredId;
  account_id: StoredId;
  expires_on: string;
}

interface Kind {
  round: RoundName;
  /** Yields records of all accounts whose day may have passed, the first ones first, or the last ones. */
  candidates(before: string, direction: Direction): AsyncIterable<Candidate>;
  /** Ends the record if its day has passed. @returns true when that is an event. */
  emit(accountId: Id, id: StoredId, today: string): Promise<boolean>;
}

interface ExpiringDocument<Document extends Expiring> {
  records: Records<Document>;
  event: EventType;
  /**
   * True when its day has passed. False for a document that cannot expire, even if an older version left the mark on
   * it.
   */
  hasExpired(document: Document, today: string): boolean;
  view(document: Document, today: string, embedded: EmbeddedIn): unknown;
}

const overdue: ExpiringDocument<InvoiceRecord> = {
  records: Invoice,
  event: 'invoice.overdue',
  hasExpired: (invoice, today) => effectiveInvoiceStatus(invoice, today) === 'Overdue',
  view: (invoice, today, embedded) =>
    invoiceView(invoice, { ...embedded(invoice), status: effectiveInvoiceStatus(invoice, today) }),
};

const expired: ExpiringDocument<QuoteRecord> = {
  records: Quote,
  event: 'quote.expired',
  hasExpired: (quote, today) => effectiveQuoteStatus(quote, today) === 'Expired',
  view: (quote, today, embedded) =>
    quoteView(quote, { ...embedded(quote), status: effectiveQuoteStatus(quote, today) }),
};

const KINDS: readonly Kind[] = [
  {
    round: 'overdue invoices',
    candidates: (...of) => candidatesOf(Invoice, ...of),
    emit: (...of) => emitExpiration(overdue, ...of),
  },
  {
    round: 'expired quotes',
    candidates: (...of) => candidatesOf(Quote, ...of),
    emit: (...of) => emitExpiration(expired, ...of),
  },
  {
    round: 'broken promises',
    candidates: (...of) => candidatesOf(PaymentPromise, ...of),
    async emit(accountId, id, today) {
      return (await runUnitOfWork({ accountId, by: { type: 'schedule' } }, (unit) => endPromise(unit, id, today)))
        .result;
    },
  },
];

/** The documents of one kind that a round takes. The next round follows at once with the rest. */
export const LOOKED_AT = 1_000;

interface Round {
  now: Date;
  most: number;
  signal: AbortSignal | undefined;
  failures: ReturnType<typeof collectFailures>;
}

/**
 * Writes the expiry events that are due. Any number of processes may do this at once, because the transaction that
 * removes the mark `expires_on` writes the event.
 * @param signal ends the round early. The next round of any scheduler finds the rest.
 * @param options.most the documents of each kind that the round takes, LOOKED_AT unless given. It may take half as many more.
 * @returns the number of events written.
 * @throws when a document failed, after the events of all others were written.
 */
export async function emitExpirations(
  now: Date = agreedDate(),
  signal?: AbortSignal,
  { most = LOOKED_AT }: { most?: number } = {},
): Promise<number> {
  const round: Round = { now, most, signal, failures: collectFailures() };
  let count = 0;
  for (const kind of KINDS) count += await emitAll(kind, round);
  round.failures.report((failed) => `the expiry events of ${failed} documents or promises could not be written`);
  return count;
}

async function emitAll(kind: Kind, round: Round): Promise<number> {
  const { now, signal, failures } = round;
  const tries = await openTries(kind.round, now);
  let count = 0;
  const emitEach = async (accountId: Id, due: readonly Due[]) => {
    for (const { _id, zone } of due) {
      if (signal?.aborted) return;
      const tried = await tries.run({ id: _id, accountId }, async () => {
        if (await kind.emit(accountId, _id, dayIn(zone, now))) count += 1;
      });
      if (!tried.isDone && tried.error) failures.add(String(_id), tried.error);
    }
  };
  // One that is set aside does not take the place of others.
  const others = await findDue(kind, round, (id) => !tries.isSuspect(id));
  await eachAccount(byAccount(others), emitEach);
  // Suspects come last and one after the other, as in the round of recurring invoices.
  if (tries.hasSuspects()) {
    const suspects = await findDue(kind, round, (id) => tries.isSuspect(id));
    await eachAccount(byAccount(suspects), emitEach, 1);
  }
  return count;
}

type Due = Candidate & { zone: string };

function findDue(kind: Kind, { now, most }: Round, isWanted: (id: StoredId) => boolean): Promise<Due[]> {
  const isDue = ({ _id, expires_on }: Candidate, today: string) => expires_on < today && isWanted(_id);
  const before = dayIn(EARLIEST_ZONE, now);
  return firstAndLast(most, (direction, atMost) =>
    firstDue(kind.candidates(before, direction), { at: now, isDue, most: atMost }),
  );
}

async function emitExpiration<Document extends Expiring>(
  kind: ExpiringDocument<Document>,
  accountId: Id,
  id: StoredId,
  today: string,
): Promise<boolean> {
  const { result } = await runUnitOfWork({ accountId, by: { type: 'schedule' } }, async ({ session, announce }) => {
    // The transaction reads the document again, because it may have been paid, moved or announced since.
    const document = await findOwn(kind.records, accountId, id, session);
    if (!document?.expires_on || document.expires_on >= today) return false;
    // `updated_at` changes with the mark, because reads show another status from today on.
    const changed = await changeOwn(kind.records, document, { expires_on: undefined } as Partial<Document>, session);
    if (document.status !== 'Sent' || !kind.hasExpired(document, today)) return false;
    await announce(kind.event, kind.view(changed, today, await embeddedIn([changed], accountId, session)));
    return true;
  });
  return result;
}

// The query covers all accounts, because the scheduler belongs to none.
function candidatesOf(
  model: typeof Invoice | typeof Quote | typeof PaymentPromise,
  before: string,
  direction: Direction,
): AsyncIterable<Candidate> {
  return (model as typeof Invoice)
    .find({ expires_on: { $lt: before } })
    .setOptions(acrossAccounts)
    .sort({ expires_on: direction })
    .select({ account_id: 1, expires_on: 1 })
    .lean<Candidate>()
    .cursor();
}
