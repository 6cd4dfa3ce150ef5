// Reads the hours behind each line of an invoice, as they were billed.
import { sumBy } from 'es-toolkit/math/sumBy';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { type IssuedEntry, IssuedTime, type IssuedTimeRecord } from '../../models/billing/issued-time.ts';
import { driverOf } from '../../models/records.ts';
import type { HourDrawdownRecord } from '../../models/time/hour-drawdown.ts';
import { type TimeLine, type TimeToBill, timeLine } from '../../rules/time/time-lines.ts';
import { drawdownsOf } from '../hour-packages/draw-hours.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { formOfLine, timeByLine } from './time-line-links.ts';

export interface BilledTimeLine extends TimeLine {
  id: number;
  /** Its place among the line items. Null once these were edited by hand. */
  at: number | null;
  /** The seconds that prepaid hours cover. */
  prepaid: number;
}

export interface BilledTime {
  /** True when the line items were changed by hand since they were made from this time. */
  isEdited: boolean;
  /** The lines in the order in which the time was put on the invoice. */
  lines: BilledTimeLine[];
}

/** The reads may be in a transaction or not. */
type Reading = Pick<UnitOfWork, 'accountId'> & {
  session?: UnitOfWork['session'];
  /** Leaves out the descriptions of issued entries, which may have 16 MiB together. */
  isTextLeftOut?: boolean;
};

/**
 * Returns the time of the invoice, as of its issue if it is issued.
 * @param locale for texts of lines of a draft that were edited since.
 */
export async function billedTime(invoice: InvoiceRecord, reading: Reading, locale: string): Promise<BilledTime> {
  const issued = invoice.status === 'Draft' ? [] : await issuedTimeOf(invoice, reading);
  if (issued.length > 0) return asIssued(issued, locale);
  const { _id, time, line_items } = invoice;
  if (!time) return { isEdited: false, lines: [] };
  const byLine = await timeByLine(reading, _id);
  const drawn = time.prepaid
    ? Map.groupBy(await drawdownsOf(reading, _id), ({ line }) => line)
    : new Map<number, HourDrawdownRecord[]>();
  const lines = time.lines.flatMap(({ id, at, rounding, ...form }) => {
    const entries = byLine.get(id)?.map((entry) => ({ ...entry, rounding }));
    if (!entries) return [];
    const line = timeLine(entries, formOfLine(form, locale));
    const printed = time.is_edited ? undefined : line_items?.[at]?.description;
    return [
      {
        ...line,
        id,
        description: printed ?? line.description,
        at: time.is_edited ? null : at,
        prepaid: sumBy(drawn.get(id) ?? [], ({ seconds }) => seconds),
      },
    ];
  });
  return { isEdited: time.is_edited, lines };
}

async function issuedTimeOf(
  { _id, account_id }: InvoiceRecord,
  { session, isTextLeftOut }: Reading,
): Promise<IssuedTimeRecord[]> {
  const found = await driverOf(IssuedTime)
    .find({ account_id, invoice_id: _id } as object, {
      ...(session ? { session } : {}),
      ...(isTextLeftOut ? { projection: { 'entries.description': 0 } } : {}),
      sort: { line: 1, part: 1 },
    })
    .toArray();
  return found as unknown as IssuedTimeRecord[];
}

/** Returns false for an invoice of an older version, and for one without time. */
export async function hasIssuedTime({ session }: Reading, { _id, account_id }: InvoiceRecord): Promise<boolean> {
  const of = { account_id, invoice_id: _id } as object;
  return (await driverOf(IssuedTime).findOne(of, { ...(session ? { session } : {}), projection: { _id: 1 } })) !== null;
}

function asIssued(records: readonly IssuedTimeRecord[], locale: string): BilledTime {
  const lines = [...Map.groupBy(records, ({ line }) => line)].flatMap(([id, parts]) => {
    const [first] = parts;
    if (!first) return [];
    const entries = parts.flatMap((part) => part.entries.map((entry) => entryOf(entry, first)));
    const { description, at, prepaid } = first;
    return [{ ...timeLine(entries, { groupBy: 'entry', text: '', locale }), id, description, at, prepaid }];
  });
  return { isEdited: records.some(({ is_edited }) => is_edited), lines };
}

function entryOf(
  { rate_from, member = null, ...entry }: IssuedEntry,
  { rate, rounding }: IssuedTimeRecord,
): TimeToBill {
  return { ...entry, member, rate: Number(rate), rateFrom: rate_from ?? 'none', rounding };
}
