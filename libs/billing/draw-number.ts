// Draws the number of a document in the transaction that makes it: the next of its sequence, as the account's format writes it.
import { conflict } from '../errors.ts';
import { recordNumber, skipNumbers, takenNumbers } from '../models/billing/number-ledger.ts';
import { drawInSequence } from '../models/sequences.ts';
import { type Id, type StoredId, timeOf } from '../models/tenant.ts';
import type { Session } from '../mongo/connection.ts';
import {
  formattedNumber,
  type NumberFormats,
  numberFormat,
  periodOf,
  sequenceOf,
} from '../rules/documents/number-format.ts';
import type { NumberKind } from '../rules/documents/number-kinds.ts';

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

/** Each number that is skipped leaves a row in the ledger, in the transaction that draws the next free one. */
const SKIPPED_MAX = 20_000;
const LOOKED_UP_AT_ONCE = 1_000;

/** Enters it in the ledger of numbers. @throws AppError 409 when too many that follow were given in another format. */
export async function drawNumber(
  session: Session,
  { accountId, kind, documentId }: { accountId: Id; kind: NumberKind; documentId: StoredId },
  { formats, day }: Numbering,
): Promise<DrawnNumber> {
  const format = numberFormat(formats, kind);
  const period = periodOf(format, day);
  const from = { sequence: sequenceOf(kind, period), start: format.start, at: timeOf(String(documentId)) };
  const textOf = (drawn: number) => formattedNumber(format, drawn, day);
  const first = await drawInSequence(session, accountId, from);
  // Another format of the account may have given it and those that follow: then they are skipped, so that none is missing.
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

/** How many numbers were given before the first free one. @throws AppError 409 when that is too far. */
async function takenInARow(session: Session, accountId: Id, textOf: (index: number) => string): Promise<number> {
  // Most often the first is free.
  for (let count = 0, length = 1; count < SKIPPED_MAX; count += length, length = LOOKED_UP_AT_ONCE) {
    const texts = Array.from({ length }, (_, index) => textOf(count + index));
    const taken = await takenNumbers(session, accountId, texts);
    const free = texts.findIndex((text) => !taken.has(text));
    if (free >= 0) return count + free;
  }
  throw conflict('Another format gave thousands of the next numbers: choose another prefix');
}
