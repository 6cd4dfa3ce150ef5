// Bills the fixed amount of a project, whole or in parts: the update that takes a part demands that so much is left.

import { sumBy } from 'es-toolkit/math/sumBy';
import { addDays, dayIn } from '../../day.ts';
import { conflict, fieldProblem } from '../../errors.ts';
import { Client, clientsOf } from '../../models/accounts/client.ts';
import type { CreditNoteRecord } from '../../models/billing/credit-note.ts';
import type { DocumentDates } from '../../models/billing/document-dates.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { changeTime } from '../../models/counter.ts';
import { driverOf, findOwn } from '../../models/records.ts';
import { type Id, storedId } from '../../models/tenant.ts';
import { leftOfFixedAmount, Project, type ProjectRecord, projectView } from '../../models/time/project.ts';
import { staleRead } from '../../mongo/errors.ts';
import { REVERSING } from '../../rules/credits/credit-reasons.ts';
import { type LineItem, lineItem } from '../../rules/documents/line-item.ts';
import { writtenAmount } from '../../rules/money/balance.ts';
import { exactMinor } from '../../rules/money/exact-amount.ts';
import { fromMinor, lineNet } from '../../rules/money/money.ts';
import { agreedSum, partLine, shareOf } from '../../rules/quotes/quote-parts.ts';
import { creditedOfLine } from '../credit-notes/credit-lines.ts';
import { paymentDays } from '../documents/client-terms.ts';
import { createInvoice } from '../documents/create-invoice.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { requireLines } from '../work/time-line-links.ts';

export interface FixedPartWanted {
  /** At most one of the two; without them it is all that is left. The amount is in major units. */
  percent?: number | undefined;
  amount?: number | undefined;
  line_text?: string | undefined;
  extra_lines: LineItem[] | null;
  due_date?: string | undefined;
  tax_rate?: number | undefined;
  /** The amount of the part contains the tax. */
  prices_include_tax?: boolean | undefined;
  dates: DocumentDates;
  description?: string | null | undefined;
  status: 'Draft' | 'Sent';
}

/**
 * Makes an invoice of the fixed amount of a project, or of a part of it.
 * @param missing the 404. @throws AppError 409 when the project has no fixed amount, or not so much of it is left.
 */
export async function billFixedAmount(
  unit: UnitOfWork,
  { id, wanted, missing }: { id: Id; wanted: FixedPartWanted; missing: () => Error },
) {
  let billed: { project: ProjectRecord; amount: number } | undefined;
  const made = await createInvoice(unit, wanted.dates.issue_date, async (account) => {
    const project = await findOwn(Project, unit.accountId, id, unit.session);
    if (!project) throw missing();
    const { currency } = project;
    if (project.billing !== 'fixed' || !currency) throw conflict('Project has no fixed amount');
    const client = await findOwn(Client, unit.accountId, project.client_id, unit.session);
    const amount = partOf(project, currency, wanted);
    billed = { project, amount };
    const line_items = [lineOf(project, amount, { wanted, locale: account.locale }), ...(wanted.extra_lines ?? [])];
    requireLines(line_items.length);
    return {
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
      origin: { fixed_part: { project_id: project._id, amount } },
    };
  });
  if (!billed) throw new Error('an invoice was made of no fixed amount');
  await moveFixedAmount(unit, billed.project, billed.amount);
  return made;
}

/** Gives back what the invoice bills of a fixed amount. The invoice itself is the caller's to write. */
export async function releaseFixedPart(unit: UnitOfWork, { fixed_part }: Pick<InvoiceRecord, 'fixed_part'>) {
  if (!fixed_part) return;
  const project = await findOwn(Project, unit.accountId, fixed_part.project_id, unit.session);
  if (project) await moveFixedAmount(unit, project, (fixed_part.corrected ?? 0) - fixed_part.amount);
}

/**
 * How much of the part credit notes cancelled or corrected. Lines that name the line of the part count; of other credits, what exceeds
 * the other lines of the invoice: so nothing is billed twice.
 */
export function correctedPart(
  invoice: InvoiceRecord,
  notes: readonly Pick<CreditNoteRecord, 'amount' | 'tax_amount' | 'reason' | 'line_items'>[],
): Pick<InvoiceRecord, 'fixed_part'> | undefined {
  const { fixed_part, line_items, currency, prices_include_tax } = invoice;
  const correcting = notes.filter(({ reason }) => REVERSING.includes(reason));
  if (!fixed_part || correcting.length === 0) return undefined;
  const lines = correcting.flatMap((note) => note.line_items ?? []);
  const credited = sumBy(correcting, (note) => agreedSum({ ...note, prices_include_tax }));
  const byLine = (line_items ?? []).map((_line, index) => creditedOfLine(invoice, lines, index + 1));
  const [first] = line_items ?? [];
  const isFirst = first !== undefined && lineNet(first, currency) === fixed_part.amount;
  const named = isFirst ? (byLine[0] ?? 0) : 0;
  const others = agreedSum(invoice) - fixed_part.amount - (sumBy(byLine, (sum) => sum) - named);
  const unnamed = credited - sumBy(byLine, (sum) => sum);
  const corrected = Math.max(0, Math.min(fixed_part.amount, named + Math.max(0, unnamed - Math.max(0, others))));
  return { fixed_part: { ...fixed_part, corrected } };
}

/** Gives back what a credit note corrects of a part. @param after the invoice as it was written. */
export async function correctFixedPart(unit: UnitOfWork, before: InvoiceRecord, after: InvoiceRecord): Promise<void> {
  const { fixed_part } = after;
  const by = (before.fixed_part?.corrected ?? 0) - (fixed_part?.corrected ?? 0);
  if (!fixed_part || by === 0) return;
  const project = await findOwn(Project, unit.accountId, fixed_part.project_id, unit.session);
  if (project) await moveFixedAmount(unit, project, by);
}

/** The last guard: more than the fixed amount is never billed, and less than nothing never given back. */
export async function moveFixedAmount(unit: UnitOfWork, { _id }: ProjectRecord, by: number): Promise<void> {
  const { session, accountId } = unit;
  const updated_at = await changeTime(session, accountId, new Date());
  const after = { $add: [{ $ifNull: ['$fixed_billed', 0] }, by] };
  const isWithin = { $and: [{ $gte: [after, 0] }, { $lte: [after, '$fixed_amount'] }] };
  const project = (await driverOf(Project).findOneAndUpdate(
    { _id, account_id: storedId(accountId), billing: 'fixed', $expr: isWithin } as object,
    { $inc: { fixed_billed: by }, $set: { updated_at } } as object,
    { session, returnDocument: 'after' },
  )) as ProjectRecord | null;
  if (!project) throw staleRead('the fixed amount was changed or billed meanwhile');
  const clients = await clientsOf(accountId, [project.client_id], session);
  await unit.announce('project.updated', projectView(project, clients.get(String(project.client_id))));
}

function partOf(project: ProjectRecord, currency: string, { percent, amount }: FixedPartWanted): number {
  const left = leftOfFixedAmount(project);
  if (percent === undefined && amount === undefined) {
    if (left === 0) throw onlyLeft(project, currency);
    return left;
  }
  const part = percent === undefined ? exactMinor(amount ?? 0, currency) : shareOf(project.fixed_amount ?? 0, percent);
  const field = percent === undefined ? 'amount' : 'percent';
  if (part <= 0) throw fieldProblem(field, `${field} must be at least the smallest unit of ${currency}`);
  if (part > left) throw onlyLeft(project, currency);
  return part;
}

function onlyLeft(project: ProjectRecord, currency: string) {
  return conflict(`Only ${writtenAmount(leftOfFixedAmount(project), currency)} of the fixed amount is left to bill`);
}

/** The whole amount has the name of the project; a part says that it is one. */
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
