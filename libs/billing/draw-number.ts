// Draws the number of a document in the transaction that makes it: the next of its sequence, as the account's format writes it.
import type { NumberKind } from '../models/billing/number-kinds.ts';
import { isNumberTaken, recordNumber, skipNumbers } from '../models/billing/number-ledger.ts';
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
}

/** As documents keep it. */
export interface DrawnNumber {
  number: number;
  number_text?: string;
  number_period?: string;
}

/** Enters it in the ledger of numbers. */
export async function drawNumber(
  session: Session,
  { accountId, kind, documentId }: { accountId: Id; kind: NumberKind; documentId: StoredId },
  { formats, day }: Numbering,
): Promise<DrawnNumber> {
  const format = numberFormat(formats, kind);
  const period = periodOf(format, day);
  const from = { sequence: sequenceOf(kind, period), start: format.start, at: timeOf(String(documentId)) };
  for (;;) {
    const number = await drawInSequence(session, accountId, from);
    const text = formattedNumber(format, number, day);
    // Another format of the account may have given it: then its number is skipped, so that none is missing.
    if (!formats || !(await isNumberTaken(session, accountId, text))) {
      await recordNumber(session, { accountId, kind, period, number, text, documentId });
      return { number, number_text: text, ...(period ? { number_period: period } : {}) };
    }
    await skipNumbers(session, { accountId, kind, period, first: number, count: 1, not_given: text });
  }
}
