// Takes time and expenses off a draft, and makes its lines anew without them.
import { appError } from '../../errors.ts';
import { readAccount } from '../../models/accounts/account.ts';
import { Client } from '../../models/accounts/client.ts';
import { Invoice, type InvoiceRecord } from '../../models/billing/invoice.ts';
import { changeOwn, findOwn, isUnchanged } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import { rewritten } from '../documents/rewrite-draft.ts';
import { releaseExpenses } from '../expenses/bill-expenses.ts';
import { drawHours, giveHoursBack } from '../hour-packages/draw-hours.ts';
import { withPaidHours } from '../hour-packages/included-hours.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { releaseTime, requireDraft } from './claim-time.ts';
import { linesWithout } from './time-line-links.ts';
import { billedWork, followedDates } from './work-period.ts';

export interface WorkOff {
  /** The work to take off. All of it when both are absent. */
  time_entry_ids?: readonly Id[] | undefined;
  expense_ids?: readonly Id[] | undefined;
}

/**
 * Takes work off.
 * @returns the changed invoice.
 * @throws AppError 409 for an issued invoice, and for work that is not on it.
 */
export async function takeWorkOff(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
  { time_entry_ids, expense_ids }: WorkOff,
): Promise<InvoiceRecord> {
  requireDraft(invoice);
  const isAll = !time_entry_ids && !expense_ids;
  const entries = isAll || time_entry_ids ? await releaseTime(unit, invoice, time_entry_ids) : [];
  const expenses = isAll || expense_ids ? await releaseExpenses(unit, invoice, expense_ids) : [];
  if (entries.length === 0 && expenses.length === 0) return invoice;
  const isEdited = invoice.time?.is_edited || invoice.expenses?.is_edited;
  const stays = await billedWork(unit, invoice);
  // Lines that were edited by hand stay, and keep the hours that they draw as long as there is time on them.
  if (!isEdited || stays.entries.length === 0) await giveHoursBack(unit, invoice);
  if (isEdited) return withoutLinks(unit, invoice, stays);
  const account = await readAccount(unit.accountId, unit.session);
  const { locale } = account;
  const left = await linesWithout(unit, invoice, { locale, expenses });
  const after = [...stays.entries, ...stays.expenses];
  const dates = followedDates(invoice, { before: [...after, ...entries, ...expenses], after });
  const form = { issuer: account, dates };
  if (!left.time) return rewritten(unit, invoice, left, form);
  const lines = { ...left, time: left.time, line_items: left.line_items ?? [] };
  const client = await findOwn(Client, unit.accountId, invoice.client_id, unit.session);
  if (!client) throw appError('client_not_found');
  const { currency, recurring } = invoice;
  const covered = await withPaidHours(unit, lines, recurring?.included_hours, { client, account, currency });
  const changed = await rewritten(unit, invoice, { ...covered, expenses: left.expenses }, form);
  await drawHours(unit, invoice, covered.draws);
  return changed;
}

/**
 * Removes the links. An invoice without time, or without expenses, has no field for them, so that its client can be
 * changed, for instance.
 */
async function withoutLinks(
  { session }: UnitOfWork,
  invoice: InvoiceRecord,
  { entries, expenses }: { entries: readonly unknown[]; expenses: readonly unknown[] },
): Promise<InvoiceRecord> {
  const changes: Partial<InvoiceRecord> = {
    ...(entries.length === 0 ? { time: undefined } : {}),
    ...(expenses.length === 0 ? { expenses: undefined } : {}),
  };
  return isUnchanged(invoice, changes) ? invoice : changeOwn(Invoice, invoice, changes, session);
}
