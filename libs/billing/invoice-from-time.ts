// Makes an invoice of unbilled time, and adds time to a draft or takes it off again.
import { addDays, dayIn } from '../day.ts';
import { conflict, fieldProblem, notFound } from '../errors.ts';
import { type AccountRecord, readAccount } from '../models/accounts/account.ts';
import { Client, type ClientRecord } from '../models/accounts/client.ts';
import { documentSearch } from '../models/billing/document-search.ts';
import { Invoice, type InvoiceRecord } from '../models/billing/invoice.ts';
import type { LineItem } from '../models/billing/line-item.ts';
import { changeOwn, findOwn, hasOwn } from '../models/records.ts';
import type { Id } from '../models/tenant.ts';
import { TimeEntry } from '../models/time/time-entry.ts';
import { claimTime, releaseTime, requireDraft } from './bill-time.ts';
import { currencyFor, paymentDays } from './client-terms.ts';
import { createInvoice } from './create-invoice.ts';
import { invoiceMoney } from './document-money.ts';
import { drawHours, giveHoursBack, type PrepaidLines, withPrepaidHours } from './draw-hours.ts';
import { BILLED_ENTRIES_MAX } from './find-billable-time.ts';
import { linesOfTime, linesWithout, requireLineItems, requireLines, timeByLine } from './lines-of-time.ts';
import { NothingToBill, type SelectedTime, selectTime, type TimeSelection } from './select-time.ts';
import type { LineForm, TimeGroup } from './time-lines.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export interface TimeWanted extends Omit<TimeSelection, 'date_to'> {
  date_to?: string | undefined;
  group_by: TimeGroup;
  line_text?: string | undefined;
}

export interface NewTimeInvoice extends TimeWanted {
  client_id: Id;
  project_id?: Id | null | undefined;
  extra_lines: LineItem[] | null;
  due_date?: string | undefined;
  currency?: string | undefined;
  tax_rate?: number | undefined;
  description?: string | null | undefined;
  status: 'Draft' | 'Sent';
}

/** @throws AppError as selectTime and createInvoice do. Nothing is stored then. */
export async function createInvoiceFromTime(unit: UnitOfWork, wanted: NewTimeInvoice) {
  let billed: { selected: SelectedTime[]; lines: PrepaidLines } | undefined;
  const made = await createInvoice(unit, undefined, async (account) => {
    const client = await findOwn(Client, unit.accountId, wanted.client_id, unit.session);
    if (!client) throw notFound('Client', 'or access denied');
    const selected = await someTime(unit, { wanted, client, account, most: BILLED_ENTRIES_MAX });
    const form = lineFormOf(wanted, account);
    const lines = await withPrepaidHours(unit, linesOfTime(selected, form), { clientId: client._id, ...form });
    const line_items = [...lines.line_items, ...(wanted.extra_lines ?? [])];
    requireLines(line_items.length);
    billed = { selected, lines };
    return {
      client_id: client._id,
      project_id: wanted.project_id,
      currency: wanted.currency ?? currencyFor(client, account),
      tax_rate: wanted.tax_rate,
      line_items,
      dates: {},
      due_date: wanted.due_date ?? addDays(dayIn(account.time_zone), paymentDays(client, account)),
      status: wanted.status,
      description: wanted.description,
      origin: { time: lines.time },
    };
  });
  if (!billed) throw new Error('an invoice was made of no time');
  await claimTime(unit, made.invoice, { made: billed.lines.made, selected: billed.selected });
  await drawHours(unit, made.invoice, billed.lines.draws);
  return made;
}

/** Adds lines of time to a draft. @returns the invoice as it is now. @throws AppError as selectTime does, 409 for an issued invoice. */
export async function addTimeTo(unit: UnitOfWork, invoice: InvoiceRecord, wanted: TimeWanted): Promise<InvoiceRecord> {
  requireDraft(invoice);
  requireNoPart(invoice);
  requireLineItems(invoice);
  const account = await readAccount(unit.accountId, unit.session);
  const client = await findOwn(Client, unit.accountId, invoice.client_id, unit.session);
  if (!client) throw notFound('Client', 'or access denied');
  const billed = [...(await timeByLine(unit, invoice._id)).values()].flat().length;
  const selected = await someTime(unit, { wanted, client, account, most: BILLED_ENTRIES_MAX - billed });
  const form = lineFormOf(wanted, account);
  const lines = await withPrepaidHours(unit, linesOfTime(selected, form, invoice), { clientId: client._id, ...form });
  const changed = await rewritten(unit, invoice, lines);
  await claimTime(unit, invoice, { made: lines.made, selected });
  await drawHours(unit, invoice, lines.draws);
  return changed;
}

/** The parts of a quote add up to it: @throws AppError 409 for one of them, whose amount time would change. */
function requireNoPart({ quote_part, quote_number }: InvoiceRecord): void {
  if (!quote_part || quote_part === 'full') return;
  throw conflict(`Cannot add time to a part of ${quote_number}: bill it on an invoice of its own`);
}

/** Takes time off a draft; without `ids` all of it. @returns the invoice as it is now. */
export async function takeTimeOff(
  unit: UnitOfWork,
  invoice: InvoiceRecord,
  ids?: readonly Id[],
): Promise<InvoiceRecord> {
  requireDraft(invoice);
  const { time } = invoice;
  const freed = await releaseTime(unit, invoice, ids);
  if (freed.length === 0 || !time) return invoice;
  // Lines that were edited by hand stay as they are, and with them what they draw as long as there is time on them.
  if (!time.is_edited || !(await hasTime(unit, invoice))) await giveHoursBack(unit, invoice);
  if (time.is_edited) return invoice;
  const { locale } = await readAccount(unit.accountId, unit.session);
  const left = await linesWithout(unit, { ...invoice, time }, locale);
  if (!left.time) return rewritten(unit, invoice, left);
  const lines = { ...left, time: left.time, line_items: left.line_items ?? [] };
  const covered = await withPrepaidHours(unit, lines, { clientId: invoice.client_id, locale });
  const changed = await rewritten(unit, invoice, covered);
  await drawHours(unit, invoice, covered.draws);
  return changed;
}

async function hasTime({ accountId, session }: UnitOfWork, { _id }: InvoiceRecord): Promise<boolean> {
  return hasOwn(TimeEntry, accountId, { invoice_id: _id }, session);
}

async function rewritten(
  { session }: UnitOfWork,
  invoice: InvoiceRecord,
  { line_items, time }: Pick<InvoiceRecord, 'line_items' | 'time'>,
): Promise<InvoiceRecord> {
  const { currency, tax_rate } = invoice;
  const money = invoiceMoney({ currency, tax_rate, line_items, amount: 0 });
  const changes: Partial<InvoiceRecord> = { ...money, time };
  changes.search = documentSearch({ ...invoice, ...changes });
  return changeOwn(Invoice, invoice, changes, session);
}

interface Wanted {
  wanted: TimeWanted;
  client: ClientRecord;
  account: AccountRecord;
  most: number;
}

/** @throws AppError 409 when there is nothing to bill. */
async function someTime(unit: UnitOfWork, { wanted, client, account, most }: Wanted): Promise<SelectedTime[]> {
  const date_to = wanted.date_to ?? dayIn(account.time_zone);
  if (wanted.date_from !== undefined && wanted.date_from > date_to) {
    throw fieldProblem('date_from', 'date_from must not be after date_to');
  }
  const selected = await selectTime(unit, { selection: { ...wanted, date_to }, client, account, most });
  if (selected.length === 0) throw new NothingToBill();
  return selected;
}

/** How the time that is wanted becomes lines. */
export function lineFormOf(
  { group_by, line_text }: Pick<TimeWanted, 'group_by' | 'line_text'>,
  { locale }: Pick<AccountRecord, 'locale'>,
): LineForm {
  return { groupBy: group_by, text: line_text, locale };
}
