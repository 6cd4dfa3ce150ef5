// Draws the number of a document in the transaction that makes it: the next of its sequence, in the account's format.
import { appError } from '../errors.ts';
import { recordNumber, skipNumbers, takenNumbers } from '../models/billing/number-ledger.ts';
import { drawInSequence } from '../models/sequences.ts';
import { type Id, type StoredId, timeOfId } from '../models/tenant.ts';
import type { Session } from '../mongo/connection.ts';
import {
  formattedNumber,
  type NumberFormats,
  numberFormat,
  numberPeriod,
  sequenceOf,
} from '../rules/documents/number-format.ts';
import type { NumberKind } from '../rules/documents/number-kinds.ts';

/** The facts that a number is made from. */
export interface Numbering {
  /** The account's own formats. Undefined when it never set any. */
  formats: NumberFormats | undefined;
  /** The date of the document, or the account's day. */
  day: string;
}

/** The number in the form that documents keep. */
export interface DrawnNumber {
  number: number;
  number_text?: string;
  number_period?: string;
}

/**
 * The most numbers that are skipped. Each leaves a row in the ledger, in the transaction that draws the next free one.
 */
const SKIPPED_MAX = 20_000;
const LOOKED_UP_AT_ONCE = 1_000;

/**
 * Draws a number and enters it in the ledger.
 * @throws AppError 409 when too many of the next numbers were given in another format.
 */
export async function drawNumber(
  session: Session,
  { accountId, kind, documentId }: { accountId: Id; kind: NumberKind; documentId: StoredId },
  { formats, day }: Numbering,
): Promise<DrawnNumber> {
  const format = numberFormat(formats, kind);
  const period = numberPeriod(format, day);
  const from = { sequence: sequenceOf(kind, period), start: format.start, at: timeOfId(String(documentId)) };
  const textOf = (drawn: number) => formattedNumber(format, drawn, day);
  const first = await drawInSequence(session, accountId, from);
  // Another format of the account may have given this number and the next ones. They are skipped, with a row each, so
  // that none is missing.
  const by = formats ? await takenInARow(session, accountId, (index) => textOf(first + index)) : 0;
  if (by > 0) {
    await skipNumbers(session, { accountId, kind, period, first, count: by, not_given: textOf });
    await drawInSequence(session, accountId, { ...from, by });
  }
  const number = first + by;
  const text = textOf(number);
  await recordNumber(session, { accountId, kind, period, number, text, documentId });
  return { number, number_text: text, ...(period ? { number_period: period } : {}) };
}

/**
 * Returns the number of a document that is not stored. None is drawn, but the document belongs to the sequence that it
 * would have a number of, and that decides which dates it may have.
 */
export function noNumber(kind: NumberKind, { formats, day }: Numbering): DrawnNumber {
  const period = numberPeriod(numberFormat(formats, kind), day);
  return { number: 0, ...(period ? { number_period: period } : {}) };
}

/** Counts the numbers before the first free one. @throws AppError 409 when there are too many. */
async function takenInARow(session: Session, accountId: Id, textOf: (index: number) => string): Promise<number> {
  // Most of the time the first one is free.
  for (let count = 0, length = 1; count < SKIPPED_MAX; count += length, length = LOOKED_UP_AT_ONCE) {
    const texts = Array.from({ length }, (_, index) => textOf(count + index));
    const taken = await takenNumbers(session, accountId, texts);
    const free = texts.findIndex((text) => !taken.has(text));
    if (free >= 0) return count + free;
  }
  throw appError('number_format_taken');
}
