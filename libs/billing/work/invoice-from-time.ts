// Makes an invoice of unbilled time and expenses, and adds some to a draft.
import { addDays, dayIn } from '../../day.ts';
import { appError, fieldProblem } from '../../errors.ts';
import { type AccountRecord, readAccount } from '../../models/accounts/account.ts';
import { Client } from '../../models/accounts/client.ts';
import type { DocumentDates } from '../../models/billing/document-dates.ts';
import type { DocumentTexts } from '../../models/billing/document-fields.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { findOwn, lockOwn } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import type { GivenCharges } from '../../rules/documents/document-charges.ts';
import type { LineItem } from '../../rules/documents/line-item.ts';
import type { LineForm, TimeGroup } from '../../rules/time/time-lines.ts';
import { currencyFor, paymentDays } from '../documents/client-terms.ts';
import { createInvoice, type MadeInvoice } from '../documents/create-invoice.ts';
import { drawDocument } from '../documents/new-document.ts';
import { requirePrintableContent } from '../documents/printable-size.ts';
import { rewritten } from '../documents/rewrite-draft.ts';
import { giveHoursBack } from '../hour-packages/draw-hours.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { requireDraft } from './claim-time.ts';
import { BILLED_ENTRIES_MAX } from './find-unbilled-time.ts';
import { type GatheredWork, gatherWork, type WorkTarget, type WorkWanted } from './gather-work.ts';
import { NothingToBill } from './select-time.ts';
import { type LinesBefore, linesWithout, requireLineItems, requireLines } from './time-line-links.ts';
import { billedWork, feePeriodOf, followedDates, periodOf } from './work-period.ts';

export interface TimeWanted extends Omit<WorkWanted['selection'], 'date_to'> {
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
  prices_include_tax?: boolean | undefined;
  description?: string | null | undefined;
  charges?: GivenCharges | undefined;
  texts?: DocumentTexts | undefined;
  /** The dates of the invoice. Without a day or period of service it gets the first and the last day of the work. */
  dates: DocumentDates;
  status: 'Draft' | 'Sent';
}

/**
 * Makes the invoice.
 * @throws AppError as gatherWork and createInvoice do, 409 when there is nothing to bill. Nothing is stored then.
 */
export async function createInvoiceFromTime(unit: UnitOfWork, wanted: NewTimeInvoice): Promise<MadeInvoice> {
  const drawn = await drawDocument(unit, 'invoice', wanted.dates.issue_date);
  const { account } = drawn;
  const client = await lockOwn(Client, unit.accountId, wanted.client_id, unit.session);
  if (!client) throw appError('client_not_found');
  const currency = wanted.currency ?? currencyFor(client, account);
  const place = { client, account, currency, before: { line_items: null }, most: BILLED_ENTRIES_MAX };
  const work = await someWork(unit, wanted, place);
  const line_items = [...work.line_items, ...(wanted.extra_lines ?? [])];
  requireLines(line_items.length);
  const { time, expenses } = work;
  const made = await createInvoice(unit, drawn, {
    client_id: client._id,
    client,
    project_id: wanted.project_id,
    currency,
    tax_rate: wanted.tax_rate,
    prices_include_tax: wanted.prices_include_tax,
    line_items,
    dates: { ...(namesDay(wanted.dates) ? {} : { service_period: periodOf(work.records) }), ...wanted.dates },
    due_date: wanted.due_date ?? addDays(dayIn(account.time_zone), paymentDays(client, account)),
    status: wanted.status,
    description: wanted.description,
    charges: wanted.charges,
    texts: wanted.texts,
    origin: { ...(time ? { time } : {}), ...(expenses ? { expenses } : {}) },
  });
  await work.claim(made.invoice);
  return made;
}

/**
 * Adds lines of work to a draft.
 * @returns the changed invoice.
 * @throws AppError as gatherWork does, 409 for an issued invoice, 422 for texts that could not be printed.
 */
export async function addTimeTo(unit: UnitOfWork, invoice: InvoiceRecord, wanted: TimeWanted): Promise<InvoiceRecord> {
  requireDraft(invoice);
  requireNoPart(invoice);
  requireLineItems(invoice);
  const account = await readAccount(unit.accountId, unit.session);
  const client = await findOwn(Client, unit.accountId, invoice.client_id, unit.session);
  if (!client) throw appError('client_not_found');
  const { entries, expenses } = await billedWork(unit, invoice);
  const place = {
    client,
    account,
    currency: invoice.currency,
    before: await linesToCover(unit, invoice, account),
    fee: feePeriodOf(invoice),
    included_hours: invoice.recurring?.included_hours,
    most: BILLED_ENTRIES_MAX - entries.length,
  };
  const work = await someWork(unit, wanted, place);
  requirePrintableContent({ ...invoice, line_items: work.line_items });
  const before = [...entries, ...expenses];
  const dates = followedDates(invoice, { before, after: [...before, ...work.records] });
  const changed = await rewritten(unit, invoice, work, { issuer: account, dates });
  await work.claim(changed);
  return changed;
}

/**
 * Returns the lines of a draft without those that take paid hours off, because its hours are covered anew together with
 * the added ones. Lines that were edited by hand stay, with the hours that they draw.
 */
async function linesToCover(unit: UnitOfWork, invoice: InvoiceRecord, { locale }: AccountRecord): Promise<LinesBefore> {
  if (!invoice.time || invoice.time.is_edited) return invoice;
  await giveHoursBack(unit, invoice);
  return linesWithout(unit, invoice, { locale, expenses: [] });
}

function namesDay(dates: DocumentDates): boolean {
  return dates.service_date !== undefined || dates.service_period !== undefined;
}

/**
 * Checks that the invoice bills no part of a quote: time would change its amount, and the parts must add up to the
 * quote. An invoice of a part of a fixed amount may bill more, because the part is stored beside its amount.
 * @throws AppError 409.
 */
function requireNoPart({ quote_part, quote_number }: InvoiceRecord): void {
  if (!quote_part || quote_part === 'full') return;
  throw appError('invoice_of_quote_part', { number: String(quote_number) });
}

/** Gathers the work. @throws AppError 409 when there is nothing to bill. */
async function someWork(unit: UnitOfWork, wanted: TimeWanted, place: WorkTarget): Promise<GatheredWork> {
  const date_to = wanted.date_to ?? dayIn(place.account.time_zone);
  if (wanted.date_from !== undefined && wanted.date_from > date_to) {
    throw fieldProblem('date_from', 'after_other', { other: 'date_to' });
  }
  const form = lineFormOf(wanted, place.account);
  const work = await gatherWork(unit, { selection: { ...wanted, date_to }, form }, place);
  if (!work) throw new NothingToBill();
  return work;
}

/** Returns the form of lines for the wanted time. */
export function lineFormOf(
  { group_by, line_text }: Pick<TimeWanted, 'group_by' | 'line_text'>,
  { locale }: Pick<AccountRecord, 'locale'>,
): LineForm {
  return { groupBy: group_by, text: line_text, locale };
}
