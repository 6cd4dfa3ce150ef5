// Drafts of invoices and quotes on which no work goes on, and drafts that a recurring invoice made while it caught up.
import { addDays, dayIn, startOfDay } from '../../day.ts';
import { TOTAL_FIELDS } from '../../models/billing/balance-expressions.ts';
import type { DocumentRecord } from '../../models/billing/document-fields.ts';
import { Invoice, type InvoiceRecord } from '../../models/billing/invoice.ts';
import { Quote } from '../../models/billing/quote.ts';
import { totalOf } from '../../rules/money/balance.ts';
import { COUNTED, counted, type Forgotten, type Look, SIFTED, sift } from './forgotten.ts';

/** Days without a change after which a draft is forgotten. */
export const DRAFT_DAYS = 14;

const FIELDS = {
  currency: 1,
  ...TOTAL_FIELDS,
  recurring: 1,
  created_at: 1,
  updated_at: 1,
} as const satisfies Partial<Record<keyof InvoiceRecord, 1>>;

export const staleInvoiceDrafts = (look: Look) => staleDrafts(look, Invoice);
export const staleQuoteDrafts = (look: Look) => staleDrafts(look, Quote);

async function staleDrafts(
  { reader, account: { time_zone }, today }: Look,
  records: typeof Invoice | typeof Quote,
): Promise<Forgotten> {
  const found = await reader.find<DocumentRecord>(
    records,
    { status: 'Draft', updated_at: { $lt: startOfDay(time_zone, addDays(today, -DRAFT_DAYS)) } },
    {
      projection: FIELDS,
      sort: { updated_at: 1 },
      hint: { account_id: 1, status: 1, updated_at: 1, _id: 1 },
      ...COUNTED,
    },
  );
  return counted(found, (draft) => ({
    id: draft._id,
    day: dayIn(time_zone, draft.updated_at),
    money: moneyOf(draft),
  }));
}

/** Finds the drafts of missed occurrences. Those that were made last are looked at first. */
export function caughtUpDrafts({ reader, account: { time_zone } }: Look): Promise<Forgotten> {
  const drafts = reader.each<InvoiceRecord>(
    Invoice,
    { status: 'Draft' },
    { projection: FIELDS, sort: { _id: -1 }, hint: { account_id: 1, status: 1, _id: 1 }, ...SIFTED },
  );
  return sift(drafts, async (batch) =>
    batch
      .filter(({ recurring }) => recurring?.is_catch_up)
      .map((draft) => ({ id: draft._id, day: dayIn(time_zone, draft.created_at), money: moneyOf(draft) })),
  );
}

function moneyOf(draft: DocumentRecord) {
  return { amount: totalOf(draft), currency: draft.currency };
}
