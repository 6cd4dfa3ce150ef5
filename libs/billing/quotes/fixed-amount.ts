// Moves the billed part of a project's fixed amount. The update that takes a part requires that enough is left.

import { sumBy } from 'es-toolkit/math/sumBy';
import { clientsOf } from '../../models/accounts/client.ts';
import type { CreditNoteRecord } from '../../models/billing/credit-note.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { changeTime } from '../../models/counter.ts';
import { driverOf, findOwn } from '../../models/records.ts';
import { storedId } from '../../models/tenant.ts';
import { Project, type ProjectRecord, projectView } from '../../models/time/project.ts';
import { staleRead } from '../../mongo/errors.ts';
import { REVERSING } from '../../rules/credits/credit-reasons.ts';
import { lineNet, shareWithin, sumOfLines } from '../../rules/money/money.ts';
import { agreedSum } from '../../rules/quotes/quote-parts.ts';
import { creditedOfLine } from '../credit-notes/credit-lines.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** Gives back the part of a fixed amount that the invoice bills. The caller writes the invoice itself. */
export async function releaseFixedPart(unit: UnitOfWork, { fixed_part }: Pick<InvoiceRecord, 'fixed_part'>) {
  if (!fixed_part) return;
  const project = await findOwn(Project, unit.accountId, fixed_part.project_id, unit.session);
  if (project) await moveFixedAmount(unit, project, (fixed_part.corrected ?? 0) - fixed_part.amount);
}

/**
 * Returns the amount of the part that credit notes cancelled or corrected. Like the part, it is before the discount of the invoice.
 * - Lines that name the line of the part count with their price.
 * - Other lines, and credits of an amount, count as far as they exceed the other lines and the shipping. So nothing is billed twice.
 */
export function correctedPart(
  invoice: InvoiceRecord,
  notes: readonly CorrectingNote[],
): Pick<InvoiceRecord, 'fixed_part'> | undefined {
  const { fixed_part, line_items, currency, prices_include_tax, discount_amount = 0, shipping_amount = 0 } = invoice;
  const correcting = notes.filter(({ reason }) => REVERSING.includes(reason));
  if (!fixed_part || correcting.length === 0) return undefined;
  const { amount } = fixed_part;
  const [first] = line_items ?? [];
  const lines = correcting.flatMap((note) => note.line_items ?? []);
  const isFirst = first !== undefined && lineNet(first, currency) === amount;
  const named = isFirst ? creditedOfLine(invoice, lines, 1) : 0;
  const priced = sumOfLines(line_items ?? [], currency);
  const discounted = priced - discount_amount;

  const unnamed = sumOfLines(lines, currency) - named;
  const ofOthers = Math.max(0, priced - amount - Math.max(0, unnamed));
  const shipping = shipping_amount - sumBy(correcting, (note) => note.shipping_amount ?? 0);
  const byAmount = sumBy(correcting, (note) => {
    return note.line_items ? 0 : agreedSum({ ...note, prices_include_tax }) - (note.shipping_amount ?? 0);
  });
  const beyond = Math.max(0, byAmount - shareWithin(ofOthers, discounted, priced) - shipping);
  const corrected = named + Math.max(0, unnamed - (priced - amount)) + shareWithin(beyond, priced, discounted);
  return { fixed_part: { ...fixed_part, corrected: Math.max(0, Math.min(amount, corrected)) } };
}

type CorrectingNote = Pick<CreditNoteRecord, 'amount' | 'tax_amount' | 'reason' | 'line_items' | 'shipping_amount'>;

/** Gives back the amount that a credit note corrects of a part. @param after the invoice in its written form. */
export async function correctFixedPart(unit: UnitOfWork, before: InvoiceRecord, after: InvoiceRecord): Promise<void> {
  const { fixed_part } = after;
  const by = (before.fixed_part?.corrected ?? 0) - (fixed_part?.corrected ?? 0);
  if (!fixed_part || by === 0) return;
  const project = await findOwn(Project, unit.accountId, fixed_part.project_id, unit.session);
  if (project) await moveFixedAmount(unit, project, by);
}

/**
 * Moves the billed amount. It is the last guard: the fixed amount is never exceeded, and the billed amount never below
 * 0.
 */
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
