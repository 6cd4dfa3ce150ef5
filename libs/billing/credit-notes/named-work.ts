// Credits single time entries and expenses of an invoice, and releases them when they can be billed again.
import { sumBy } from 'es-toolkit/math/sumBy';
import { appError } from '../../errors.ts';
import type { CreditNoteRecord, ReturnedHours } from '../../models/billing/credit-note.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import type { InvoiceExpenses } from '../../models/billing/invoice-expenses.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { type Id, type StoredId, storedId } from '../../models/tenant.ts';
import { REVERSING } from '../../rules/credits/credit-reasons.ts';
import { type LineItem, lineItem } from '../../rules/documents/line-item.ts';
import { cutToLine, joinedForLine, writtenDay } from '../../rules/documents/line-wording.ts';
import { type ChargedHours, chargedHours } from '../../rules/time/charged-hours.ts';
import type { Draw } from '../../rules/time/prepaid-hours.ts';
import { releaseExpenses } from '../expenses/bill-expenses.ts';
import { drawdownsOf, packageState, packagesOf, returnHours } from '../hour-packages/draw-hours.ts';
import { includedSeconds } from '../hour-packages/included-hours.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { releaseTime } from '../work/claim-time.ts';
import { type BilledTimeLine, billedTime, hasIssuedTime } from '../work/hours-of-invoice.ts';
import { keepIssuedTime } from '../work/issue-work.ts';
import type { ChargedLines } from './credit-lines.ts';

/** The work that a caller names. */
export interface WorkToCredit {
  time_entry_ids?: readonly Id[] | undefined;
  expense_ids?: readonly Id[] | undefined;
}

/** The fields of earlier credit notes that tell which work was credited. */
type EarlierWork = Pick<CreditNoteRecord, 'reason' | 'time_entry_ids' | 'expense_ids' | 'hours_returned'>;

/** The most ids that a message names. It counts the others. */
const NAMED_MAX = 20;

/** The hours of an issued invoice, and the part that was charged. */
export interface ChargedTime extends ChargedHours {
  billed: readonly BilledTimeLine[];
  /** The input of creditLines. Undefined where no hours were paid for before. */
  byPlace: ChargedLines | undefined;
}

/** The part of an invoice's work that a credit note takes back. */
export interface CreditedWork {
  line_items: LineItem[];
  /** The fields of the credit note. */
  kept: Pick<CreditNoteRecord, 'time_entry_ids' | 'expense_ids' | 'hours_returned'>;
  /** The fields of the invoice after the release. Undefined when the work stays billed. */
  without: Pick<InvoiceRecord, 'time' | 'expenses'> | undefined;
  /** True when the invoice has no other work. */
  isAll: boolean;
}

/** Computes the charged hours of an invoice. @returns undefined when no lines follow from time. */
export async function chargedTime(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
  { earlier, locale }: { earlier: readonly EarlierWork[]; locale: string },
): Promise<ChargedTime | undefined> {
  const { time, recurring, currency } = invoice;
  if (!time || time.is_edited) return undefined;
  const { lines: billed } = await billedTime(invoice, { ...unit, isTextLeftOut: true }, locale);
  const isPaidBefore = time.prepaid !== undefined || time.included !== undefined;
  const charged = chargedHours(billed, {
    included: time.included ? includedSeconds(recurring?.included_hours) : 0,
    draws: time.prepaid ? await drawnAtIssue(unit, invoice, earlier) : [],
    packages: time.prepaid ? (await packagesOf(unit, invoice.client_id)).map(packageState) : [],
    currency,
  });
  const places = billed.flatMap(({ id, at }) => {
    const line = charged.lines.get(id);
    return line && at !== null ? [[at + 1, line] as const] : [];
  });
  return { ...charged, billed, byPlace: isPaidBefore ? new Map(places) : undefined };
}

/** Returns the draws of the invoice before earlier credit notes gave hours back. */
async function drawnAtIssue(
  unit: UnitOfWork,
  { _id }: InvoiceRecord,
  earlier: readonly EarlierWork[],
): Promise<Draw[]> {
  return mergedDraws([
    ...(await drawdownsOf(unit, _id)),
    ...earlier.flatMap(({ hours_returned = [] }) => hours_returned),
  ]);
}

/** Returns one draw for each package and line. */
function mergedDraws(draws: readonly { package_id: StoredId | Id; line: number; seconds: number }[]): Draw[] {
  const groups = Map.groupBy(draws, ({ package_id, line }) => `${String(package_id)} ${line}`);
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    const seconds = sumBy(same, (one) => one.seconds);
    return first ? [{ package_id: String(first.package_id), line: first.line, seconds }] : [];
  });
}

/**
 * Returns the work to credit.
 * @param time of the invoice, see chargedTime.
 * @throws AppError 409
 * - for work that is not on the invoice or was credited before, with its ids,
 * - for lines that were edited by hand.
 */
export function creditedWork(
  invoice: InvoiceRecord,
  named: WorkToCredit,
  {
    earlier,
    time,
    reason,
    locale,
  }: {
    earlier: readonly EarlierWork[];
    time: ChargedTime | undefined;
    reason: CreditNoteRecord['reason'];
    locale: string;
  },
): CreditedWork {
  const time_entry_ids = [...new Set(named.time_entry_ids)];
  const expense_ids = [...new Set(named.expense_ids)];
  requireOnInvoice(invoice, { time_entry_ids, expense_ids }, { earlier, time });
  const timeLines = (time?.billed ?? []).flatMap((line) =>
    creditOfLine(invoice, line, { time_entry_ids, time, locale }),
  );
  const expenseLines = (invoice.expenses?.lines ?? []).flatMap(({ expense_id, at }) => {
    const item = invoice.line_items?.[at];
    return item && expense_ids.includes(String(expense_id)) ? [lineItem({ ...item, line: at + 1 })] : [];
  });
  const isFreed = REVERSING.includes(reason);
  const without = leftWithout(invoice, { time_entry_ids, expense_ids }, { earlier, time });
  return {
    line_items: [...timeLines, ...expenseLines],
    kept: {
      ...(time_entry_ids.length > 0 ? { time_entry_ids: time_entry_ids.map(storedId) } : {}),
      ...(expense_ids.length > 0 ? { expense_ids: expense_ids.map(storedId) } : {}),
      hours_returned: isFreed && time ? returnedHours(time, time_entry_ids) : undefined,
    },
    without: isFreed ? without : undefined,
    isAll: without.time === undefined && without.expenses === undefined,
  };
}

/** Returns the line that credits the named entries of one line, if it has any. */
function creditOfLine(
  { line_items, time: made }: InvoiceRecord,
  { id, at, entries }: BilledTimeLine,
  { time_entry_ids, time, locale }: { time_entry_ids: readonly Id[]; time: ChargedTime | undefined; locale: string },
): LineItem[] {
  const named = entries.filter((entry) => time_entry_ids.includes(entry.id));
  const item = at === null ? undefined : line_items?.[at];
  if (named.length === 0 || at === null || !item) return [];
  const [first, ...others] = named.map((entry) => time?.entries.get(entry.id)?.qty);
  const qty = others.reduce((sum, one) => sum?.plus(one ?? 0), first);
  const isByDay = made?.lines.some((line) => line.id === id && line.group_by === 'day');
  const days = joinedForLine(
    named.map(({ date }) => writtenDay(date, locale)),
    ', ',
  );
  const isWhole = named.length === entries.length;
  const description = isWhole || isByDay ? item.description : cutToLine(`${item.description}\n${days}`);
  return [lineItem({ ...item, description, qty: qty?.toFixed() ?? '0', line: at + 1 })];
}

function returnedHours({ entries }: ChargedTime, ids: readonly Id[]): ReturnedHours[] | undefined {
  const draws = mergedDraws(ids.flatMap((id) => entries.get(id)?.draws ?? []));
  return draws.length > 0 ? draws.map((draw) => ({ ...draw, package_id: storedId(draw.package_id) })) : undefined;
}

interface Named {
  time_entry_ids: readonly Id[];
  expense_ids: readonly Id[];
}

interface OnInvoice {
  earlier: readonly EarlierWork[];
  time: ChargedTime | undefined;
}

function requireOnInvoice(invoice: InvoiceRecord, named: Named, { earlier, time }: OnInvoice): void {
  const number = printedNumber('invoice', invoice);
  const isEdited =
    (named.time_entry_ids.length > 0 && invoice.time?.is_edited) ||
    (named.expense_ids.length > 0 && invoice.expenses?.is_edited);
  if (isEdited) throw appError('credit_lines_edited', { number });
  const entries = new Set(time?.entries.keys());
  const expenses = new Set(invoice.expenses?.lines.map(({ expense_id }) => String(expense_id)));
  const before = creditedBefore(earlier);
  const time_entries = rejectedOf(named.time_entry_ids, { on: entries, before: before.time });
  const other = rejectedOf(named.expense_ids, { on: expenses, before: before.expenses });
  const reasons = [...reasonsOf(time_entries, 'Time entries', number), ...reasonsOf(other, 'Expenses', number)];
  if (reasons.length === 0) return;
  const shown = (ids: readonly Id[]) => ids.slice(0, NAMED_MAX);
  throw appError('credit_work_not_possible', {
    reason: reasons.join('; '),
    number,
    credited_ids: shown([...time_entries.credited, ...other.credited]),
    unknown_ids: shown([...time_entries.unknown, ...other.unknown]),
  });
}

function creditedBefore(earlier: readonly EarlierWork[]): { time: Set<Id>; expenses: Set<Id> } {
  return {
    time: new Set(earlier.flatMap(({ time_entry_ids = [] }) => time_entry_ids.map(String))),
    expenses: new Set(earlier.flatMap(({ expense_ids = [] }) => expense_ids.map(String))),
  };
}

interface Rejected {
  credited: Id[];
  unknown: Id[];
}

function rejectedOf(ids: readonly Id[], { on, before }: { on: ReadonlySet<Id>; before: ReadonlySet<Id> }): Rejected {
  return {
    credited: ids.filter((id) => before.has(id)),
    unknown: ids.filter((id) => !before.has(id) && !on.has(id)),
  };
}

function reasonsOf({ credited, unknown }: Rejected, nouns: string, number: string): string[] {
  return [
    ...(credited.length > 0 ? [`${nouns} of ${number} were credited already: ${namedIn(credited)}`] : []),
    ...(unknown.length > 0 ? [`${nouns} are not on ${number}: ${namedIn(unknown)}`] : []),
  ];
}

function namedIn(ids: readonly Id[]): string {
  const more = ids.length - NAMED_MAX;
  return `${ids.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns the lines of time and expenses that still have work after the release. */
function leftWithout(
  { time: lines, expenses }: InvoiceRecord,
  { time_entry_ids, expense_ids }: Named,
  { earlier, time }: OnInvoice,
): Pick<InvoiceRecord, 'time' | 'expenses'> {
  const freed = creditedBefore(earlier.filter(({ reason }) => REVERSING.includes(reason)));
  const isGone = ({ id }: { id: Id }) => time_entry_ids.includes(id) || freed.time.has(id);
  const empty = new Set((time?.billed ?? []).filter(({ entries }) => entries.every(isGone)).map(({ id }) => id));
  const kept = lines?.lines.filter(({ id }) => !empty.has(id)) ?? [];
  const prepaid = lines?.prepaid?.filter(({ line }) => !empty.has(line));
  const isKept = ({ expense_id }: InvoiceExpenses['lines'][number]) => !expense_ids.includes(String(expense_id));
  const keptExpenses = expenses?.lines.filter(isKept) ?? [];
  return {
    time: lines && kept.length > 0 ? { ...lines, lines: kept, prepaid } : undefined,
    expenses: expenses && keptExpenses.length > 0 ? { ...expenses, lines: keptExpenses } : undefined,
  };
}

/** Releases the named work and gives its prepaid hours back. @param invoice before the credit note. */
export async function releaseCreditedWork(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
  { kept }: CreditedWork,
  locale: string,
): Promise<void> {
  const { time_entry_ids, expense_ids, hours_returned } = kept;
  if (time_entry_ids) {
    // An older version kept the hours of an issued invoice in the entries only.
    if (!(await hasIssuedTime(unit, invoice))) await keepIssuedTime(unit, invoice, locale);
    await releaseTime(unit, invoice, time_entry_ids.map(String));
    if (hours_returned) await returnHours(unit, invoice, hours_returned);
  }
  if (expense_ids) await releaseExpenses(unit, invoice, expense_ids.map(String));
}
