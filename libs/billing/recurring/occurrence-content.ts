// The content of an occurrence's invoice: the fixed lines with their placeholders filled, and the included work.
import { addDays } from '../../day.ts';
import type { Period } from '../../models/billing/document-dates.ts';
import type { RecurringInvoiceRecord } from '../../models/billing/recurring-invoice.ts';
import { givenCharges } from '../../rules/documents/document-charges.ts';
import {
  filled,
  filledLine,
  namesDays,
  withDays,
  writtenDay,
  writtenDays,
  writtenMonth,
} from '../../rules/documents/line-wording.ts';
import { paymentDays } from '../documents/client-terms.ts';
import type { InvoiceContent } from '../documents/create-invoice.ts';
import type { GatheredWork } from '../work/gather-work.ts';
import { requireLines } from '../work/time-line-links.ts';
import { coveredPeriod, isOutside, periodOf } from '../work/work-period.ts';
import type { Due } from './due-occurrence.ts';

/** Returns the content of the invoice of an occurrence. @param work undefined when the occurrence includes none. */
export function contentOf(
  { recurring, account, client, now, period, today, status, catchingUpTo }: Due,
  work: GatheredWork | undefined,
): InvoiceContent {
  const { locale } = account;
  const line_items = work?.line_items ?? recurring.line_items ?? [];
  requireLines(line_items.length);
  const number = recurring.first_occurrence + now.index + 1;
  const named = {
    month: writtenMonth(period.from, locale),
    year: period.from.slice(0, 4),
    from: writtenDay(period.from, locale),
    to: writtenDay(period.to, locale),
    n: String(number),
  };
  // Time has texts and placeholders of its own. Fixed lines come first.
  const fixed = recurring.line_items?.length ?? 0;
  const included_hours = recurring.include_time?.included_hours;
  const showsDays = work !== undefined && isOutside(period, work.records);
  const feeText = (template: string) => {
    const text = filledLine(template, named);
    return showsDays && !namesDays(template) ? withDays(text, writtenDays(period, locale)) : text;
  };
  return {
    client_id: recurring.client_id,
    client,
    project_id: recurring.project_id,
    currency: recurring.currency,
    tax_rate: recurring.tax_rate ?? undefined,
    prices_include_tax: recurring.prices_include_tax,
    line_items: line_items.map((line, index) =>
      index < fixed ? { ...line, description: feeText(line.description) } : line,
    ),
    dates: { service_period: servicePeriod(recurring, period, work) },
    due_date: addDays(today, recurring.due_days ?? paymentDays(client, account)),
    early_payment_discounts: recurring.early_payment_discounts,
    status,
    description: recurring.description && filled(recurring.description, named),
    charges: givenCharges(recurring),
    texts: {
      notes: recurring.notes && filled(recurring.notes, named),
      terms: recurring.terms && filled(recurring.terms, named),
    },
    origin: {
      ...(work?.time ? { time: work.time } : {}),
      ...(work?.expenses ? { expenses: work.expenses } : {}),
      recurring: {
        id: recurring._id,
        occurrence: number,
        period_from: period.from,
        period_to: period.to,
        ...(included_hours === undefined ? {} : { included_hours }),
        ...(catchingUpTo === undefined ? {} : { is_catch_up: true }),
      },
    },
  };
}

/** Returns the service period: the period of the fee, and the days of the work. */
function servicePeriod(
  { line_items }: RecurringInvoiceRecord,
  fee: Period,
  work: GatheredWork | undefined,
): Period | undefined {
  if (!work) return fee;
  return line_items ? coveredPeriod(fee, work.records) : periodOf(work.records);
}
