// Draws the number of a document in the transaction that makes it: the next of its sequence, as the account's format writes it.
import type { NumberKind } from '../models/billing/number-kinds.ts';
import { isNumberTaken, recordNumber, skipNumbers } from '../models/billing/number-ledger.ts';
import { reserveEvents } from '../models/counter.ts';
import { type CountChange, countAhead } from '../models/record-counts.ts';
import { drawInSequence } from '../models/sequences.ts';
import { type Id, type StoredId, timeOf } from '../models/tenant.ts';
import type { Session } from '../mongo/connection.ts';
import { formattedNumber, type NumberFormats, numberFormat, periodOf, sequenceOf } from './number-format.ts';

/** What a number is made from. */
export interface Numbering {
  /** As the account has set them; undefined when it never has. */
  formats: NumberFormats | undefined;
  /** The date of the document, or the account's day. */
  day: string;
  /** What the transaction will do after it: the update that draws the number takes it along. None of it has to come true. */
  expected?: { events: number; counts: readonly CountChange[] };
}

/** As documents keep it. */
export interface DrawnNumber {
  number: number;
  number_text?: string;
  number_period?: string;
}

/** The count that a document with a new number most often belongs to: then its insert needs no update of the counter. */
const EXPECTED_COUNT: Readonly<Record<NumberKind, string>> = {
  credit_note: 'credit_notes/all',
  invoice: 'invoices/Draft',
  payment: 'payments/all',
  quote: 'quotes/Draft',
};

/** Enters it in the ledger of numbers. */
export async function drawNumber(
  session: Session,
  { accountId, kind, documentId }: { accountId: Id; kind: NumberKind; documentId: StoredId },
  { formats, day, expected = { events: 1, counts: [] } }: Numbering,
): Promise<DrawnNumber> {
  reserveEvents(session, expected.events);
  const counts: CountChange[] = [[EXPECTED_COUNT[kind], 1], ...expected.counts];
  const format = numberFormat(formats, kind);
  const period = periodOf(format, day);
  const from = { sequence: sequenceOf(kind, period), start: format.start, at: timeOf(String(documentId)) };
  for (;;) {
    const number = await countAhead(session, counts, () => drawInSequence(session, accountId, from));
    const text = formattedNumber(format, number, day);
    // Another format of the account may have given it: then its number is skipped, so that none is missing.
    if (!formats || !(await isNumberTaken(session, accountId, text))) {
      await recordNumber(session, { accountId, kind, period, number, text, documentId });
      return { number, number_text: text, ...(period ? { number_period: period } : {}) };
    }
    await skipNumbers(session, { accountId, kind, period, first: number, count: 1, not_given: text });
  }
}
