// Reads and writes time and expenses in the same way: by their ids, by their invoice, and in one guarded update.
import { appError } from '../../errors.ts';
import { Invoice, type InvoiceRecord } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { changeTime } from '../../models/counter.ts';
import { readWithin } from '../../models/read-within.ts';
import { driverOf, findOwn, type Records, type Stamped } from '../../models/records.ts';
import { type Id, type StoredId, storedId } from '../../models/tenant.ts';
import { Expense, type ExpenseRecord } from '../../models/time/expense.ts';
import { TimeEntry, type TimeEntryRecord, type WorkSettlement } from '../../models/time/time-entry.ts';
import { staleRead } from '../../mongo/errors.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

interface Work extends Stamped {
  invoice_id?: StoredId | null | undefined;
  settled?: WorkSettlement | null | undefined;
}

export interface WorkKind<Stored extends Work> {
  records: Records<Stored>;
  /** The noun for messages. */
  noun: string;
  /** The first part of the codes of its errors. */
  code: 'time_entry' | 'expense';
  nouns: string;
}

export const TIME: WorkKind<TimeEntryRecord> = {
  records: TimeEntry,
  noun: 'Time entry',
  code: 'time_entry',
  nouns: 'time_entries',
};
export const EXPENSES: WorkKind<ExpenseRecord> = {
  records: Expense,
  noun: 'Expense',
  code: 'expense',
  nouns: 'expenses',
};

/** The number of records that are read at a time. Each may have a text of 20,000 characters. */
const BATCH = 100;

/** The reads may be in a transaction or not. */
type Where = Pick<UnitOfWork, 'accountId'> & { session?: UnitOfWork['session'] };

/**
 * Returns the named records.
 * @throws AppError 404 when one of the ids is not the account's, 409 when they are too large together.
 */
export async function namedWork<Stored extends Work>(
  { records, code, nouns }: WorkKind<Stored>,
  { session, accountId }: UnitOfWork,
  ids: readonly Id[],
): Promise<Stored[]> {
  const named = { account_id: storedId(accountId), _id: { $in: ids.map(storedId) } };
  const found = await readWithin<Stored>(driverOf(records).find(named, { session, batchSize: BATCH }), nouns);
  if (found.length < new Set(ids).size) throw appError(`${code}_not_found`);
  return found;
}

/** Returns all records on the invoice, or those of `ids` that are on it. @param fields all unless given. */
export async function workOn<Stored extends Work>(
  { records }: WorkKind<Stored>,
  { session, accountId }: Where,
  {
    invoice_id,
    ids,
    line,
    fields,
  }: {
    invoice_id: InvoiceRecord['_id'];
    ids?: readonly Id[] | undefined;
    /** The only line whose time is read. Absent means all lines. */
    line?: number | undefined;
    fields?: Record<string, 0 | 1>;
  },
): Promise<Stored[]> {
  const filter = {
    account_id: storedId(accountId),
    invoice_id,
    ...(ids ? { _id: { $in: ids.map(storedId) } } : {}),
    ...(line === undefined ? {} : { billed_line: line }),
  };
  const found = await driverOf(records)
    .find(filter as object, {
      ...(session ? { session } : {}),
      sort: { _id: 1 },
      batchSize: BATCH,
      ...(fields ? { projection: fields } : {}),
    })
    .toArray();
  return found as unknown as Stored[];
}

/**
 * Changes all of the records, or begins the transaction again when one of them has changed since it was read.
 * @param when the values that every record must still have.
 * @returns the time of the change, which is their `updated_at`.
 */
export async function changeWork<Stored extends Work>(
  { records, noun }: WorkKind<Stored>,
  { session, accountId }: UnitOfWork,
  {
    work,
    when,
    set = {},
    unset,
  }: { work: readonly Stored[]; when: object; set?: Partial<Stored>; unset?: Record<string, 1> },
): Promise<Date> {
  const updated_at = await changeTime(session, accountId, new Date());
  const { matchedCount } = await driverOf(records).updateMany(
    { account_id: storedId(accountId), _id: { $in: work.map(({ _id }) => _id) }, ...when } as object,
    { $set: { ...set, updated_at } as object, ...(unset ? { $unset: unset } : {}) },
    { session },
  );
  if (matchedCount !== work.length)
    throw staleRead(`${noun}: ${matchedCount} of ${work.length} were as they were read`);
  return updated_at;
}

/** Checks that a record is free. @throws AppError 409 for one that is on an invoice, or settled. */
export async function requireUnbilled<Stored extends Work>(
  { code }: WorkKind<Stored>,
  { invoice_id, settled }: Pick<Work, 'invoice_id' | 'settled'>,
  { accountId, session }: Pick<UnitOfWork, 'accountId' | 'session'>,
): Promise<void> {
  if (invoice_id) {
    const invoice = await findOwn(Invoice, accountId, invoice_id, session);
    throw appError(`${code}_already_billed`, { number: invoice ? printedNumber('invoice', invoice) : 'an invoice' });
  }
  if (settled) throw appError(`${code}_settled`);
}
