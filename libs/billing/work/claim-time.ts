// Links time to an invoice and releases it again. An entry is on one invoice at most, because the update that links it
// requires that it is on none.
import { appError } from '../../errors.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { changeTime } from '../../models/counter.ts';
import { driverOf } from '../../models/records.ts';
import { type Id, storedId } from '../../models/tenant.ts';
import { TimeEntry, type TimeEntryRecord } from '../../models/time/time-entry.ts';
import { staleRead } from '../../mongo/errors.ts';
import { timeEntryViews } from '../time/time-context.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import type { SelectedTime } from './select-time.ts';
import type { LinkedTimeLines } from './time-line-links.ts';
import { changeWork, TIME, workOn } from './work-records.ts';

/** The number of events that are made at a time. Each may carry a description of 20,000 characters. */
const ANNOUNCED_AT_ONCE = 200;

/**
 * Puts the entries on the invoice and announces each. Begins the transaction again when one of them is no longer free.
 * @param made lines that have time on the invoice already are left alone.
 */
export async function claimTime(
  unit: UnitOfWork,
  invoice: Pick<InvoiceRecord, '_id'>,
  { made, selected }: { made: LinkedTimeLines['made']; selected: readonly SelectedTime[] },
): Promise<void> {
  const { session, accountId } = unit;
  const updated_at = await changeTime(session, accountId, new Date());
  const records = new Map(selected.map(({ record }) => [String(record._id), record]));
  const isSelected = (entry: { id: string }) => records.has(entry.id);
  const claims = made.flatMap(({ id, entries }) =>
    [...Map.groupBy(entries.filter(isSelected), ({ rateFrom }) => rateFrom)].map(([from, group]) => {
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
 * Takes time off the invoice and announces each entry. The caller writes the invoice itself.
 * @param ids all of its time when absent.
 * @throws AppError 409 when one of them is not on the invoice.
 */
export async function releaseTime(
  unit: UnitOfWork,
  invoice: Pick<InvoiceRecord, '_id' | 'time'>,
  ids?: readonly Id[],
): Promise<TimeEntryRecord[]> {
  if (!invoice.time && !ids) return [];
  const entries = await workOn(TIME, unit, { invoice_id: invoice._id, ids });
  if (ids && entries.length < new Set(ids).size) throw appError('time_entry_not_on_invoice');
  if (entries.length === 0) return [];
  const when = { invoice_id: invoice._id };
  const unset = { invoice_id: 1, billed_line: 1, billed_rate: 1, billed_rate_from: 1 } as const;
  const updated_at = await changeWork(TIME, unit, { work: entries, when, unset });
  const free = entries.map(
    ({ invoice_id: _i, billed_line: _l, billed_rate: _r, billed_rate_from: _f, ...entry }): TimeEntryRecord => ({
      ...entry,
      updated_at,
    }),
  );
  await announceEntries(unit, free);
  return free;
}

/** Checks that time can be put on and taken off the invoice. @throws AppError 409 unless it is a draft. */
export function requireDraft({ status }: Pick<InvoiceRecord, 'status'>): void {
  if (status !== 'Draft') throw appError('invoice_time_issued');
}

/** Writes one `time_entry.updated` for each entry. */
export async function announceEntries(unit: UnitOfWork, entries: readonly TimeEntryRecord[]): Promise<void> {
  for (let at = 0; at < entries.length; at += ANNOUNCED_AT_ONCE) {
    const views = await timeEntryViews(entries.slice(at, at + ANNOUNCED_AT_ONCE), unit.accountId, unit.session);
    await unit.announceAll('time_entry.updated', views);
  }
}
