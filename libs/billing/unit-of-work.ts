// One unit of work: records, numbers and events of an account that commit together or not at all.

import { isNumberTaken, type NumberKind, recordNumber, skipNumbers } from '../models/billing/number-ledger.ts';
import { finishCounter, giveBack, pretendChangeTime, reserveEvents } from '../models/counter.ts';
import { countAhead } from '../models/record-counts.ts';
import { drawInSequence, drawMany, drawNext } from '../models/sequences.ts';
import { quotaStep } from '../models/stored-bytes.ts';
import { type Id, type StoredId, timeOf } from '../models/tenant.ts';
import { insertEvent, insertEvents } from '../models/webhooks/event.ts';
import type { EventType } from '../models/webhooks/event-types.ts';
import { inTransaction, type Session } from '../mongo/connection.ts';
import { formattedNumber, type NumberFormats, numberFormat, periodOf, sequenceOf } from './number-format.ts';

/** What an operation of the billing core works with. Its reads and writes go through `session`, one after the other. */
export interface UnitOfWork {
  session: Session;
  accountId: Id;
  /**
   * The next number of a document, entered in the ledger. Its event's sequence is drawn in the same update, so an `announce`
   * must follow. 0 in a dry run, which draws none.
   */
  drawNumber: (kind: NumberKind, documentId: StoredId, given: Numbering) => Promise<DrawnNumber>;
  /** Writes an event of the account; webhooks go out after the commit. @param data the record as the API returns it. */
  announce: (type: EventType, data: unknown, endpointId?: Id) => Promise<Id | undefined>;
  /** An event of one type for each of some records, for the price of two writes. All are in memory: many come in portions. */
  announceAll: (type: EventType, records: readonly unknown[]) => Promise<void>;
}

/** What a number is made from. */
export interface Numbering {
  /** As the account has set them; undefined when it never has. */
  formats: NumberFormats | undefined;
  /** The date of the document, or the account's day. */
  day: string;
}

/** As documents keep it. */
export interface DrawnNumber {
  number: number;
  number_text?: string;
  number_period?: string;
}

export interface WorkOptions {
  accountId: Id;
  /** The request that caused it; its events carry it. */
  requestId?: string | undefined;
  /** What the transaction begins with. Nothing is stored when it throws. */
  beforeWork?: ((session: Session) => Promise<void>) | undefined;
  /** Bytes of records and events that the account may keep; undefined when any amount, or when the work frees some. */
  quotaBytes?: number | undefined;
}

/**
 * Runs `work` in a transaction and commits it. It may run several times, see inTransaction.
 * @returns its result, and whether it wrote events: then the relay has something to do. @throws AppError 409 over the quota.
 */
export async function runUnitOfWork<Result>(
  options: WorkOptions,
  work: (unit: UnitOfWork) => Promise<Result>,
): Promise<{ result: Result; hasEvents: boolean }> {
  return inTransaction(async (session) => {
    reserveEvents(session);
    await options.beforeWork?.(session);
    const { unit, finish } = openUnitOfWork(session, options);
    const result = await work(unit);
    await giveBack(session, options.accountId);
    const hasEvents = finish();
    // Work without events is small and bounded in number: keys can be changed over the quota.
    const step = quotaStep(session, hasEvents ? options.quotaBytes : undefined);
    await finishCounter(session, options.accountId, step);
    return { result, hasEvents };
  });
}

/** Runs `work` without numbers and events, and takes everything back. @returns its result. */
export async function rollBackUnitOfWork<Result>(
  accountId: Id,
  work: (unit: UnitOfWork) => Promise<Result>,
): Promise<Result> {
  const unchanged = {
    accountId,
    drawNumber: async () => ({ number: 0 }),
    announce: async () => undefined,
    announceAll: async () => undefined,
  };
  try {
    await inTransaction(async (session) => {
      pretendChangeTime(session, new Date());
      throw new RolledBack(await work({ session, ...unchanged }));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.result as Result;
    throw error;
  }
  throw new Error('a dry run was committed');
}

/** The count that a document with a new number most often belongs to: then its insert needs no update of the counter. */
const EXPECTED_COUNT: Readonly<Record<NumberKind, string>> = {
  invoice: 'invoices/Draft',
  payment: 'payments/all',
  quote: 'quotes/Draft',
};

/** Ends a dry run, so that its transaction is aborted. */
class RolledBack extends Error {
  readonly result: unknown;
  constructor(result: unknown) {
    super('rolled back');
    this.result = result;
  }
}

function openUnitOfWork(session: Session, { accountId, requestId }: WorkOptions) {
  let reserved: number | undefined;
  let announced = 0;
  const unit: UnitOfWork = {
    session,
    accountId,
    async drawNumber(kind, documentId, { formats, day }) {
      const format = numberFormat(formats, kind);
      const period = periodOf(format, day);
      const from = { sequence: sequenceOf(kind, period), start: format.start, at: timeOf(String(documentId)) };
      for (;;) {
        const { number, event } = await countAhead(session, EXPECTED_COUNT[kind], () =>
          drawInSequence(session, accountId, { ...from, withEvent: reserved === undefined }),
        );
        reserved ??= event;
        const text = formattedNumber(format, number, day);
        // Another format of the account may have given it: then its number is skipped, so that none is missing.
        if (!formats || !(await isNumberTaken(session, accountId, text))) {
          await recordNumber(session, { accountId, kind, period, number, text, documentId });
          return { number, number_text: text, ...(period ? { number_period: period } : {}) };
        }
        await skipNumbers(session, { accountId, kind, period, first: number, count: 1, not_given: text });
      }
    },
    async announce(type, data, endpointId) {
      const sequence = reserved ?? (await drawNext(session, accountId, ['event'])).event;
      reserved = undefined;
      announced += 1;
      const event = { accountId, type, sequence, data, ...(requestId ? { requestId } : {}) };
      return insertEvent(session, { ...event, ...(endpointId ? { endpointId } : {}) });
    },
    async announceAll(type, records) {
      if (records.length === 0) return;
      const first = await drawMany(session, accountId, 'event', records.length);
      announced += records.length;
      await insertEvents(
        session,
        records.map((data, index) => ({
          accountId,
          type,
          sequence: first + index,
          data,
          ...(requestId ? { requestId } : {}),
        })),
      );
    },
  };
  const finish = () => {
    if (reserved !== undefined) throw new Error('a number was drawn but its event was not announced');
    return announced > 0;
  };
  return { unit, finish };
}
