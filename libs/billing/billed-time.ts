// The hours behind each line of an invoice, as they were billed.
import { sumBy } from 'es-toolkit/math/sumBy';
import type { InvoiceRecord } from '../models/billing/invoice.ts';
import type { Id } from '../models/tenant.ts';
import type { HourDrawdownRecord } from '../models/time/hour-drawdown.ts';
import { drawdownsOf } from './draw-hours.ts';
import { timeByLine } from './lines-of-time.ts';
import { type TimeLine, timeLine } from './time-lines.ts';

export interface BilledTimeLine extends TimeLine {
  /** Its place among the line items; null once these were edited by hand. */
  at: number | null;
  /** Seconds that prepaid hours cover. */
  prepaid: number;
}

export interface BilledTime {
  /** The line items were changed by hand since they were made from this time. */
  isEdited: boolean;
  /** In the order in which the time was put on the invoice. */
  lines: BilledTimeLine[];
}

/** @param locale of texts of lines that were edited since. */
export async function billedTime(
  { _id, time, line_items }: InvoiceRecord,
  accountId: Id,
  locale: string,
): Promise<BilledTime> {
  if (!time) return { isEdited: false, lines: [] };
  const byLine = await timeByLine({ accountId }, _id);
  const drawn = time.prepaid
    ? Map.groupBy(await drawdownsOf({ accountId }, _id), ({ line }) => line)
    : new Map<number, HourDrawdownRecord[]>();
  const lines = time.lines.flatMap(({ id, at, group_by, text, rounding }) => {
    const entries = byLine.get(id)?.map((entry) => ({ ...entry, rounding }));
    if (!entries) return [];
    const line = timeLine(entries, { groupBy: group_by, text, locale });
    const printed = time.is_edited ? undefined : line_items?.[at]?.description;
    return [
      {
        ...line,
        description: printed ?? line.description,
        at: time.is_edited ? null : at,
        prepaid: sumBy(drawn.get(id) ?? [], ({ seconds }) => seconds),
      },
    ];
  });
  return { isEdited: time.is_edited, lines };
}
