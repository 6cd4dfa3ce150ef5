// The rows between the lines of a document and what is due, in the order of the printed document.
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { languageOf } from '#libs/rules/taxes/document-taxes.ts';
import { taxNote } from '#libs/rules/taxes/tax-notes.ts';
import type { PageLocale } from './locale.ts';

export interface TotalRow {
  label: string;
  /** A written amount. */
  amount: string;
  isLast?: true;
}

/** Returns the rows. Amounts are those of the record: nothing is computed anew. */
export function totalRows(document: PrintableDocument, locale: PageLocale): TotalRow[] {
  const { labels: both, money } = locale;
  const labels = document.isQuote ? both.quote : both.invoice;
  const row = (label: string, value: number | undefined, sign = 1): TotalRow[] =>
    value === undefined || value === 0 ? [] : [{ label, amount: money(sign * value) }];
  const { subtotal, adjustment, discountAmount, shippingAmount, net, roundingAmount, amount, pricesIncludeTax } =
    document;
  const total: TotalRow = { label: labels.total, amount: money(amount) };
  const before = [
    ...(subtotal === undefined || subtotal === amount
      ? []
      : [
          {
            label: pricesIncludeTax && net === undefined ? labels.taxes.net : labels.subtotal,
            amount: money(subtotal),
          },
        ]),
    ...row(labels.adjustment, adjustment),
    ...row(labels.discount, discountAmount, -1),
    ...row(labels.shipping, shippingAmount),
    ...(net === undefined ? [] : [{ label: labels.taxes.net, amount: money(net) }]),
    ...taxRows(document, locale),
    ...row(labels.rounding, roundingAmount),
  ];
  if (document.amountDue === undefined) return [...before, { ...total, isLast: true }];
  return [
    ...before,
    total,
    ...row(labels.paid, document.amountPaid, -1),
    ...row(labels.credited, document.amountCredited, -1),
    ...row(labels.discounted, document.amountDiscounted, -1),
    ...row(labels.writtenOff, document.amountWrittenOff, -1),
    { label: labels.amountDue, amount: money(document.amountDue), isLast: true },
  ];
}

function taxRows({ taxes, taxAmount, taxRate }: PrintableDocument, locale: PageLocale): TotalRow[] {
  const { labels: both, money, percent } = locale;
  const { tax, taxes: words } = both.invoice;
  if (!taxes) return taxAmount ? [{ label: tax(percent(taxRate)), amount: money(taxAmount) }] : [];
  const isSeveral = taxes.length > 1;
  return taxes
    .filter((one) => isSeveral || one.tax !== 0 || one.rate !== 0)
    .map((one) => ({
      label: isSeveral ? `${tax(percent(one.rate))} ${words.base} ${money(one.taxable)}` : tax(percent(one.rate)),
      amount: money(one.tax),
    }));
}

/** Returns the notes below the total, each once: reasons for no tax, that prices include it, and early payment. */
export function totalNotes(document: PrintableDocument, { labels: both, language, ...locale }: PageLocale): string[] {
  const { labels } = { labels: both.invoice };
  const included = document.pricesIncludeTax ? [labels.taxes.included] : [];
  const spoken = languageOf(language);
  const reasons = (document.taxes ?? []).flatMap(
    ({ note, category }) => note ?? taxNote(category ?? null, spoken) ?? [],
  );
  const early = document.amountDue === 0 ? [] : (document.earlyPayment ?? []);
  const discounts = early.map((one) =>
    labels.earlyPayment(locale.percent(one.percent), locale.day(one.until), locale.money(one.amount)),
  );
  return [...included, ...new Set(reasons), ...discounts];
}
