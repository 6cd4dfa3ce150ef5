// Links time to an invoice and releases it again. An entry is on one invoice at most: the update that links it demands that it is on none.
import { conflict, fieldProblem } from '../errors.ts';
import type { InvoiceRecord } from '../models/billing/invoice.ts';
import type { InvoiceTime, InvoiceTimeLine } from '../models/billing/invoice-time.ts';
import { type LineItem, lineItem } from '../models/billing/line-item.ts';
import { changeTime } from '../models/counter.ts';
import { driverOf } from '../models/records.ts';
import { type Id, storedId } from '../models/tenant.ts';
import { TimeEntry, type TimeEntryRecord } from '../models/time/time-entry.ts';
import { staleRead } from '../mongo/errors.ts';
import type { SelectedTime } from './select-time.ts';
import { timeContext, timeEntryViews, timeToBill } from './time-context.ts';
import { type LineForm, type TimeLine, type TimeToBill, timeLine, timeLines } from './time-lines.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** Lines of a document at most. */
export const LINES_MAX = 500;
/** Events that are made at a time: each may carry a description of 20,000 characters. */
const ANNOUNCED_AT_ONCE = 200;

export interface LinesOfTime {
  line_items: LineItem[];
  time: InvoiceTime;
  /** With the id that their entries name. */
  made: (TimeLine & { id: number })[];
}

/** @param before what the invoice has already; new lines follow it. @throws AppError 409 when there are too many lines. */
export function linesOfTime(
  selected: readonly SelectedTime[],
  form: LineForm,
  before: Pick<InvoiceRecord, 'line_items' | 'time'> = { line_items: null },
): LinesOfTime {
  const lines = timeLines(
    selected.map(({ toBill }) => toBill),
    form,
  );
  const kept = before.line_items ?? [];
  requireLines(kept.length + lines.length);
  const first = before.time?.next ?? 1;
  const made = lines.map((line, index) => ({ ...line, id: first + index }));
  const stored = made.map(({ id, rounding }, index): InvoiceTimeLine => {
    const text = form.text === undefined ? {} : { text: form.text };
    return { id, at: kept.length + index, group_by: form.groupBy, rounding, ...text };
  });
  return {
    line_items: [...kept, ...made.map((line) => lineItem(line))],
    time: {
      is_edited: before.time?.is_edited ?? false,
      next: first + made.length,
      lines: [...(before.time?.lines ?? []), ...stored],
    },
    made,
  };
}

/** @throws AppError 409 when a document cannot have so many lines. */
export function requireLines(count: number): void {
  if (count > LINES_MAX) throw conflict(`Too many lines (at most ${LINES_MAX}): group by task, project or day`);
}

/** Puts the entries on the invoice and announces each. Begins the transaction again when one of them is no longer free. */
export async function claimTime(
  unit: UnitOfWork,
  invoice: Pick<InvoiceRecord, '_id'>,
  { made, selected }: { made: LinesOfTime['made']; selected: readonly SelectedTime[] },
): Promise<void> {
  const { session, accountId } = unit;
  const updated_at = await changeTime(session, accountId, new Date());
  const records = new Map(selected.map(({ record }) => [String(record._id), record]));
  const claims = made.flatMap(({ id, entries }) =>
    [...Map.groupBy(entries, ({ rateFrom }) => rateFrom)].map(([from, group]) => {
      const set: Partial<TimeEntryRecord> = {
        invoice_id: invoice._id,
        billed_line: id,
        billed_rate: group[0]?.rate ?? 0,
        ...(from === 'none' ? {} : { billed_rate_from: from }),
        updated_at,
      };
      return { ids: group.map((entry) => entry.id), set };
    }),
  );
  const { matchedCount } = await driverOf(TimeEntry).bulkWrite(
    claims.map(({ ids, set }) => ({
      updateMany: {
        filter: {
          account_id: storedId(accountId),
          _id: { $in: ids.map(storedId) },
          invoice_id: null,
          settled: null,
        } as object,
        update: { $set: set as object },
      },
    })),
    { session },
  );
  if (matchedCount !== records.size) throw staleRead(`${matchedCount} of ${records.size} time entries were free`);
  const claimed = claims.flatMap(({ ids, set }) =>
    ids.map((id) => ({ ...(records.get(id) as TimeEntryRecord), ...set })),
  );
  await announceEntries(unit, claimed);
}

/**
 * Takes time off the invoice and announces each entry. The invoice itself is the caller's to write.
 * @param ids all of its time when absent. @throws AppError 409 when one of them is not on the invoice.
 */
export async function releaseTime(
  unit: UnitOfWork,
  invoice: Pick<InvoiceRecord, '_id' | 'time'>,
  ids?: readonly Id[],
): Promise<TimeEntryRecord[]> {
  if (!invoice.time && !ids) return [];
  const { session, accountId } = unit;
  const entries = await entriesOf(unit, invoice._id, ids);
  if (ids && entries.length < new Set(ids).size) throw conflict('Time entry is not on this invoice');
  if (entries.length === 0) return [];
  const updated_at = await changeTime(session, accountId, new Date());
  const { matchedCount } = await driverOf(TimeEntry).updateMany(
    {
      account_id: storedId(accountId),
      _id: { $in: entries.map(({ _id }) => _id) },
      invoice_id: invoice._id,
    } as object,
    { $set: { updated_at } as object, $unset: { invoice_id: 1, billed_line: 1, billed_rate: 1, billed_rate_from: 1 } },
    { session },
  );
  if (matchedCount !== entries.length) throw staleRead('time left the invoice meanwhile');
  const free = entries.map(
    ({ invoice_id: _i, billed_line: _l, billed_rate: _r, billed_rate_from: _f, ...entry }): TimeEntryRecord => ({
      ...entry,
      updated_at,
    }),
  );
  await announceEntries(unit, free);
  return free;
}

/** What is left of the invoice's lines without the released time. Lines that were edited by hand stay as they are. */
export async function linesWithout(
  unit: UnitOfWork,
  invoice: Pick<InvoiceRecord, '_id' | 'line_items' | 'time'>,
  locale: string,
): Promise<Pick<InvoiceRecord, 'line_items' | 'time'>> {
  const { time, line_items } = invoice;
  if (!time || time.is_edited) return { line_items, time };
  const left = await timeByLine(unit, invoice._id);
  const items: (LineItem | undefined)[] = [...(line_items ?? [])];
  for (const { id, at, group_by, text, rounding } of time.lines) {
    const entries = left.get(id)?.map((entry): TimeToBill => ({ ...entry, rounding }));
    const form = { groupBy: group_by, locale, text };
    items[at] = entries ? lineItem(timeLine(entries, form)) : undefined;
  }
  const kept = items.filter((item) => item !== undefined);
  const lines = time.lines
    .filter(({ id }) => left.has(id))
    .map((line) => ({ ...line, at: line.at - items.slice(0, line.at).filter((item) => item === undefined).length }));
  return {
    line_items: kept.length > 0 ? kept : null,
    time: lines.length > 0 ? { ...time, lines } : undefined,
  };
}

/** The time on the invoice by the line that it was put on, as it was billed; roundings are the lines'. */
export async function timeByLine(
  unit: Pick<UnitOfWork, 'accountId'> & { session?: UnitOfWork['session'] },
  invoiceId: InvoiceRecord['_id'],
): Promise<Map<number, TimeToBill[]>> {
  const entries = await entriesOf(unit, invoiceId);
  const contextOf = await timeContext(entries, unit.accountId, unit.session);
  const billed = entries.map((entry) => {
    const asBilled = {
      rate: entry.billed_rate ?? 0,
      rateFrom: entry.billed_rate_from ?? 'none',
      rounding: null,
    } as const;
    return { line: entry.billed_line ?? 0, toBill: timeToBill(entry, contextOf(entry), asBilled) };
  });
  const groups = Map.groupBy(billed, ({ line }) => line);
  return new Map([...groups].map(([line, group]) => [line, group.map(({ toBill }) => toBill)]));
}

/** @throws AppError 409 unless time can be put on and taken off the invoice. */
export function requireDraft({ status }: Pick<InvoiceRecord, 'status'>): void {
  if (status !== 'Draft') throw conflict('Cannot change the time of an issued invoice');
}

/** @throws AppError 400 when the invoice has an amount and no lines to add to. */
export function requireLineItems({ line_items, amount }: Pick<InvoiceRecord, 'line_items' | 'amount'>): void {
  if (!line_items && amount > 0) {
    throw fieldProblem('line_items', 'line_items are required on an invoice that time is added to');
  }
}

async function entriesOf(
  { session, accountId }: Pick<UnitOfWork, 'accountId'> & { session?: UnitOfWork['session'] },
  invoiceId: InvoiceRecord['_id'],
  ids?: readonly Id[],
): Promise<TimeEntryRecord[]> {
  const filter = {
    account_id: storedId(accountId),
    invoice_id: invoiceId,
    ...(ids ? { _id: { $in: ids.map(storedId) } } : {}),
  };
  const found = await driverOf(TimeEntry)
    .find(filter as object, { ...(session ? { session } : {}), sort: { _id: 1 } })
    .toArray();
  return found as unknown as TimeEntryRecord[];
}

/** One `time_entry.updated` for each entry. */
export async function announceEntries(unit: UnitOfWork, entries: readonly TimeEntryRecord[]): Promise<void> {
  for (let at = 0; at < entries.length; at += ANNOUNCED_AT_ONCE) {
    const views = await timeEntryViews(entries.slice(at, at + ANNOUNCED_AT_ONCE), unit.accountId, unit.session);
    await unit.announceAll('time_entry.updated', views);
  }
}
