// Links the lines of an invoice to the time entries behind each.
import { appError, fieldProblem } from '../../errors.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import type { InvoiceExpenses } from '../../models/billing/invoice-expenses.ts';
import type { InvoiceTime, InvoiceTimeLine } from '../../models/billing/invoice-time.ts';
import type { ExpenseRecord } from '../../models/time/expense.ts';
import { type LineItem, lineItem } from '../../rules/documents/line-item.ts';
import type { LineToCover } from '../../rules/time/prepaid-hours.ts';
import { type LineForm, type TimeToBill, timeLine, timeLines } from '../../rules/time/time-lines.ts';
import { timeContext, timeToBill } from '../time/time-context.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import type { SelectedTime } from './select-time.ts';
import { TIME, workOn } from './work-records.ts';

/** The most lines of a document. */
const LINES_MAX = 500;

export interface LinkedTimeLines {
  line_items: LineItem[];
  time: InvoiceTime;
  /** The lines with the id that their entries name. */
  made: LineToCover[];
}

/** The fields of an invoice that it bills already. */
export interface LinesBefore extends Pick<InvoiceRecord, 'line_items' | 'time' | 'expenses'> {
  /** Its lines of time whose hours are covered anew, together with the added ones. */
  made?: readonly LineToCover[] | undefined;
}

/** Makes lines of time. @param before new lines follow it. @throws AppError 409 when there are too many lines. */
export function linkTimeLines(
  selected: readonly SelectedTime[],
  form: LineForm,
  before: LinesBefore = { line_items: null },
): LinkedTimeLines {
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
    const days = form.showsDays ? ({ shows_days: true } as const) : {};
    return { id, at: kept.length + index, group_by: form.groupBy, rounding, ...text, ...days };
  });
  return {
    line_items: [...kept, ...made.map((line) => lineItem(line))],
    time: {
      ...before.time,
      is_edited: before.time?.is_edited ?? false,
      next: first + made.length,
      lines: [...(before.time?.lines ?? []), ...stored],
    },
    made: [...(before.made ?? []), ...made],
  };
}

/** Returns how a stored line is made anew. */
export function formOfLine(
  { group_by, text, shows_days }: Pick<InvoiceTimeLine, 'group_by' | 'text' | 'shows_days'>,
  locale: string,
): LineForm {
  return { groupBy: group_by, text, locale, showsDays: shows_days };
}

/**
 * Checks the number of lines.
 * @param instead a way to make fewer.
 * @throws AppError 409 when a document cannot have so many.
 */
export function requireLines(count: number, instead = 'group by task, project or day'): void {
  if (count > LINES_MAX) throw appError('too_many_lines', { limit: LINES_MAX, instead });
}

/**
 * Returns the invoice's lines without released time and expenses, and without those that take paid hours off: prepaid
 * and included hours are counted anew.
 * @param invoice whose lines were not edited by hand.
 */
export async function linesWithout(
  unit: UnitOfWork,
  { _id, line_items, time, expenses }: Pick<InvoiceRecord, '_id' | 'line_items' | 'time' | 'expenses'>,
  released: { locale: string; expenses: readonly Pick<ExpenseRecord, '_id'>[] },
): Promise<LinesBefore & Pick<LinkedTimeLines, 'made'>> {
  const left = await timeByLine(unit, _id);
  const items: (LineItem | undefined)[] = [...(line_items ?? [])];
  const made: LineToCover[] = [];
  for (const { id, at, rounding, ...form } of time?.lines ?? []) {
    const entries = left.get(id)?.map((entry): TimeToBill => ({ ...entry, rounding }));
    const line = entries && timeLine(entries, formOfLine(form, released.locale));
    items[at] = line && lineItem(line);
    if (line) made.push({ ...line, id });
  }
  const paid = [...(time?.prepaid ?? []).map(({ at }) => at), ...(time?.included?.at ?? [])];
  for (const at of paid) items[at] = undefined;
  const gone = new Set(released.expenses.map((expense) => String(expense._id)));
  const isGone = ({ expense_id }: InvoiceExpenses['lines'][number]) => gone.has(String(expense_id));
  for (const line of expenses?.lines ?? []) if (isGone(line)) items[line.at] = undefined;
  const moved = <Line extends { at: number }>(line: Line): Line => ({
    ...line,
    at: line.at - items.slice(0, line.at).filter((item) => item === undefined).length,
  });
  const kept = items.filter((item) => item !== undefined);
  const lines = (time?.lines ?? []).filter(({ id }) => left.has(id)).map(moved);
  const keptExpenses = (expenses?.lines ?? []).filter((line) => !isGone(line)).map(moved);
  return {
    line_items: kept.length > 0 ? kept : null,
    time: time && lines.length > 0 ? { ...time, lines, prepaid: undefined, included: undefined } : undefined,
    expenses: expenses && keptExpenses.length > 0 ? { ...expenses, lines: keptExpenses } : undefined,
    made,
  };
}

/**
 * Returns the billed time on the invoice, by the line that it was put on. The lines have their own rounding.
 * @param line all lines unless given.
 */
export async function timeByLine(
  unit: Pick<UnitOfWork, 'accountId'> & { session?: UnitOfWork['session'] },
  invoiceId: InvoiceRecord['_id'],
  line?: number,
): Promise<Map<number, TimeToBill[]>> {
  const entries = await workOn(TIME, unit, { invoice_id: invoiceId, line });
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

/** Checks that lines can be added. @throws AppError 400 when the invoice has an amount and no lines. */
export function requireLineItems({ line_items, amount }: Pick<InvoiceRecord, 'line_items' | 'amount'>): void {
  if (!line_items && amount > 0) {
    throw fieldProblem('line_items', 'lines_required_for_time');
  }
}
