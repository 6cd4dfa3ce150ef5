// Gathers the work of a client for an invoice: its time, less the hours that are paid already, and its expenses.
import type { AccountRecord } from '../../models/accounts/account.ts';
import type { ClientRecord } from '../../models/accounts/client.ts';
import type { Period } from '../../models/billing/document-dates.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import type { ExpenseRecord } from '../../models/time/expense.ts';
import type { TimeEntryRecord } from '../../models/time/time-entry.ts';
import type { LineItem } from '../../rules/documents/line-item.ts';
import type { LineForm } from '../../rules/time/time-lines.ts';
import { claimExpenses, expenseItem } from '../expenses/bill-expenses.ts';
import { findExpenses, type WantedExpenses } from '../expenses/find-expenses.ts';
import { drawHours } from '../hour-packages/draw-hours.ts';
import { withPaidHours } from '../hour-packages/included-hours.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { claimTime } from './claim-time.ts';
import { keepIssuedTime } from './issue-work.ts';
import { type SelectedTime, selectTime, type TimeSelection } from './select-time.ts';
import { type LinesBefore, linkTimeLines, requireLines } from './time-line-links.ts';
import { isOutside } from './work-period.ts';

export interface WorkWanted {
  selection: TimeSelection & WantedExpenses['selection'] & { include_time?: boolean | undefined };
  form: LineForm;
}

export interface WorkTarget {
  client: ClientRecord;
  account: AccountRecord;
  currency: string;
  before: LinesBefore;
  /** The period of the fee that stands before it: work of other days shows its own. */
  fee?: Period | undefined;
  /** The hours that the fee includes, a plain decimal. */
  included_hours?: string | undefined;
  /** The most time entries. */
  most: number;
  /** True to take the oldest where there are more. Otherwise more are an error. */
  takesOldest?: boolean | undefined;
}

export interface GatheredWork {
  /** The lines before, then those of time, of paid hours and of expenses. */
  line_items: LineItem[];
  time: InvoiceRecord['time'];
  expenses: InvoiceRecord['expenses'];
  /** The records that are put on the invoice. */
  records: readonly (TimeEntryRecord | ExpenseRecord)[];
  /** Links all of them to the invoice, once it is stored. Begins the transaction again when some are no longer free. */
  claim: (invoice: InvoiceRecord) => Promise<void>;
}

/**
 * Gathers the work, or returns undefined when there is nothing to bill.
 * @throws AppError as selectTime and findExpenses do.
 */
export async function gatherWork(
  unit: UnitOfWork,
  wanted: WorkWanted,
  target: WorkTarget,
): Promise<GatheredWork | undefined> {
  const { selection } = wanted;
  const { client, account, currency, before, fee, most, takesOldest } = target;
  const selected =
    selection.include_time === false ? [] : await selectTime(unit, { selection, client, account, most, takesOldest });
  const expenses = await findExpenses(unit, { client, currency, selection });
  if (selected.length === 0 && expenses.length === 0) return undefined;
  const records = [...selected.map(({ record }) => record), ...expenses];
  const form = { ...wanted.form, showsDays: fee !== undefined && isOutside(fee, records) };
  const time = await gatherTime(unit, selected, form, target);
  const first = time.line_items.length;
  const line_items = [...time.line_items, ...expenses.map((expense) => expenseItem(expense, form.locale))];
  requireLines(line_items.length);
  return {
    line_items,
    time: time.time,
    expenses: withExpenses(before.expenses, expenses, first),
    records,
    async claim(invoice) {
      // Links of hundreds of records would be most of the work of a preview.
      if (unit.isDryRun) return;
      if (selected.length > 0) await claimTime(unit, invoice, { made: time.made, selected });
      await drawHours(unit, invoice, time.draws);
      await claimExpenses(unit, invoice, expenses);
      if (invoice.status !== 'Draft') await keepIssuedTime(unit, invoice, form.locale);
    },
  };
}

async function gatherTime(
  unit: UnitOfWork,
  selected: readonly SelectedTime[],
  form: LineForm,
  { client, account, currency, before, included_hours }: WorkTarget,
) {
  const { line_items, time, made = [] } = before;
  if (selected.length + made.length === 0) return { line_items: line_items ?? [], time, made: [], draws: [] };
  const lines = linkTimeLines(selected, form, before);
  return withPaidHours(unit, lines, included_hours, { client, account, currency });
}

function withExpenses(before: InvoiceRecord['expenses'], expenses: readonly ExpenseRecord[], first: number) {
  if (expenses.length === 0) return before;
  const lines = expenses.map(({ _id }, index) => ({ expense_id: _id, at: first + index }));
  return { is_edited: before?.is_edited ?? false, lines: [...(before?.lines ?? []), ...lines] };
}
