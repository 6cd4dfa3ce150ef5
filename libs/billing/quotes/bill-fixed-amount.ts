// Bills the fixed amount of a project, as a whole or in parts.
import { addDays, dayIn } from '../../day.ts';
import { appError, fieldProblem } from '../../errors.ts';
import { Client } from '../../models/accounts/client.ts';
import type { DocumentDates } from '../../models/billing/document-dates.ts';
import type { DocumentTexts } from '../../models/billing/document-fields.ts';
import { findOwn } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import { leftOfFixedAmount, Project, type ProjectRecord } from '../../models/time/project.ts';
import type { GivenCharges } from '../../rules/documents/document-charges.ts';
import { type LineItem, lineItem } from '../../rules/documents/line-item.ts';
import { writtenAmount } from '../../rules/money/balance.ts';
import { exactMinor } from '../../rules/money/exact-amount.ts';
import { fromMinor, percentOf } from '../../rules/money/money.ts';
import { partLine } from '../../rules/quotes/quote-parts.ts';
import { paymentDays } from '../documents/client-terms.ts';
import { createInvoice, type MadeInvoice } from '../documents/create-invoice.ts';
import { drawDocument } from '../documents/new-document.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { requireLines } from '../work/time-line-links.ts';
import { moveFixedAmount } from './fixed-amount.ts';

export interface FixedPartWanted {
  /**
   * The size of the part, as a percentage or as an amount in major units. At most one is set; with neither, all that is
   * left is billed.
   */
  percent?: number | undefined;
  amount?: number | undefined;
  line_text?: string | undefined;
  extra_lines: LineItem[] | null;
  due_date?: string | undefined;
  tax_rate?: number | undefined;
  /** True when the amount of the part contains the tax. */
  prices_include_tax?: boolean | undefined;
  dates: DocumentDates;
  description?: string | null | undefined;
  /** They change what the invoice asks for, not what it bills of the fixed amount. */
  charges?: GivenCharges | undefined;
  texts?: DocumentTexts | undefined;
  status: 'Draft' | 'Sent';
}

/**
 * Makes an invoice of the fixed amount of a project, or of a part of it.
 * @param missing makes the 404.
 * @throws AppError 409 when the project has no fixed amount, or less of it is left.
 */
export async function billFixedAmount(
  unit: UnitOfWork,
  { id, wanted, missing }: { id: Id; wanted: FixedPartWanted; missing: () => Error },
): Promise<MadeInvoice> {
  const drawn = await drawDocument(unit, 'invoice', wanted.dates.issue_date);
  const { account } = drawn;
  const project = await findOwn(Project, unit.accountId, id, unit.session);
  if (!project) throw missing();
  const { currency } = project;
  if (project.billing !== 'fixed' || !currency) throw appError('project_not_fixed');
  const client = await findOwn(Client, unit.accountId, project.client_id, unit.session);
  const amount = partOf(project, currency, wanted);
  const line_items = [lineOf(project, amount, { wanted, locale: account.locale }), ...(wanted.extra_lines ?? [])];
  requireLines(line_items.length);
  const made = await createInvoice(unit, drawn, {
    client_id: project.client_id,
    project_id: project._id,
    currency,
    tax_rate: wanted.tax_rate,
    prices_include_tax: wanted.prices_include_tax,
    line_items,
    dates: wanted.dates,
    due_date: wanted.due_date ?? addDays(dayIn(account.time_zone), paymentDays(client ?? {}, account)),
    status: wanted.status,
    description: wanted.description,
    charges: wanted.charges,
    texts: wanted.texts,
    origin: { fixed_part: { project_id: project._id, amount } },
  });
  await moveFixedAmount(unit, project, amount);
  return made;
}

function partOf(project: ProjectRecord, currency: string, { percent, amount }: FixedPartWanted): number {
  const left = leftOfFixedAmount(project);
  if (percent === undefined && amount === undefined) {
    if (left === 0) throw onlyLeft(project, currency);
    return left;
  }
  const part =
    percent === undefined ? exactMinor(amount ?? 0, currency) : percentOf(project.fixed_amount ?? 0, percent);
  const field = percent === undefined ? 'amount' : 'percent';
  if (part <= 0) throw fieldProblem(field, 'below_smallest_unit', { currency });
  if (part > left) throw onlyLeft(project, currency);
  return part;
}

function onlyLeft(project: ProjectRecord, currency: string) {
  return appError('fixed_amount_exceeded', { left: writtenAmount(leftOfFixedAmount(project), currency) });
}

/** Returns the line. It has the name of the project, and for a part also says that it is one. */
function lineOf(
  { name, fixed_amount, currency }: ProjectRecord,
  amount: number,
  { wanted, locale }: { wanted: FixedPartWanted; locale: string },
): LineItem {
  const { percent, line_text } = wanted;
  const texts = { locale, currency: currency ?? '' };
  const line =
    amount === fixed_amount
      ? { description: name, qty: '1', rate: fromMinor(amount, texts.currency), discount: '0' }
      : partLine('progress', { amount, percent, quoteNumber: name }, texts);
  return lineItem({ ...line, description: line_text ?? line.description });
}
