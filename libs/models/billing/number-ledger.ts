// Every document number that was ever drawn, with its document or a tombstone: of a deleted draft, or of a skipped
// number.
import { model, Schema } from 'mongoose';
import type { Session } from '../../mongo/connection.ts';
import { formattedNumber, standardFormat } from '../../rules/documents/number-format.ts';
import { NUMBER_KINDS, type NumberKind } from '../../rules/documents/number-kinds.ts';
import { driverOf } from '../records.ts';
import { type Id, idField, newId, requiredIdField, type StoredId, storedId, tenant } from '../tenant.ts';

export interface NumberRecord {
  /** The id of the document itself, so that a document has one number. */
  _id: StoredId;
  account_id: StoredId;
  kind: NumberKind;
  /** The year of its sequence. Empty when one sequence serves all years. */
  period?: string;
  number: number;
  /** The number as it is printed. A skipped number has none. */
  text?: string;
  /** The printed number that another document already had, when that is the reason for skipping. */
  not_given?: string;
  created_at: Date;
  /** The time at which the draft was deleted or the number skipped. The number is never given again. */
  deleted_at?: Date;
}

const numberSchema = new Schema<NumberRecord>(
  {
    _id: { ...idField, required: true },
    account_id: requiredIdField,
    kind: { type: String, enum: NUMBER_KINDS, required: true },
    period: { type: String, default: '' },
    number: { type: Number, required: true },
    text: String,
    not_given: String,
    created_at: { type: Date, required: true },
    deleted_at: Date,
  },
  { versionKey: false, strict: 'throw', collection: 'numbers' },
);
numberSchema.plugin(tenant);
numberSchema.index({ account_id: 1, kind: 1, period: 1, number: 1 }, { unique: true });
// No two documents of an account have the same printed number, however formats change.
numberSchema.index({ account_id: 1, text: 1 }, { unique: true, partialFilterExpression: { text: { $exists: true } } });
// This index has tombstones only. An audit counts them along it.
numberSchema.index(
  { account_id: 1, kind: 1, deleted_at: 1 },
  { partialFilterExpression: { deleted_at: { $exists: true } } },
);

export const NumberLedger = model('Number', numberSchema);

/** Writes a number in the standard format: 7 → `INV-0007`. Numbers beyond 9999 have more digits. */
export function documentNumber(kind: NumberKind, number: number): string {
  // The standard format names no day.
  return formattedNumber(standardFormat(kind), number, '');
}

/** Returns the number as it was printed when it was drawn. @param record of a document of the kind. */
export function printedNumber(
  kind: NumberKind,
  { number, number_text }: { number: number; number_text?: string | undefined },
) {
  return number_text ?? documentNumber(kind, number);
}

/** Returns those of the printed numbers that documents of the account have, or had. */
export async function takenNumbers(session: Session, accountId: Id, texts: readonly string[]): Promise<Set<string>> {
  const taken = { account_id: storedId(accountId), text: { $in: [...texts] } } as object;
  const rows = await driverOf(NumberLedger)
    .find(taken, { session, projection: { _id: 0, text: 1 }, batchSize: texts.length + 1 })
    .toArray();
  return new Set((rows as unknown as { text: string }[]).map(({ text }) => text));
}

const NUMBER_FORM = /^([A-Z]{3}-)?0*([1-9]\d{0,11})$/;

/**
 * Reads a number: `50` and `INV-0050` → 50. Returns undefined for anything else, such as the printed number of the
 * other kind.
 */
export function numberIn(kind: NumberKind, text: string): number | undefined {
  const standard = standardFormat(kind).prefix;
  const [, prefix = standard, digits] = NUMBER_FORM.exec(text) ?? [];
  return digits && prefix === standard ? Number(digits) : undefined;
}

/** Enters a drawn number in the ledger. @throws the driver's duplicate error when the text was given before. */
export async function recordNumber(
  session: Session,
  drawn: { accountId: Id; kind: NumberKind; period: string; number: number; text: string; documentId: StoredId },
): Promise<void> {
  await NumberLedger.collection.insertOne(
    {
      _id: drawn.documentId as never, // The types of mongoose know no ids but ObjectId.
      account_id: storedId(drawn.accountId),
      kind: drawn.kind,
      period: drawn.period,
      number: drawn.number,
      text: drawn.text,
      created_at: new Date(),
    },
    { session },
  );
}

/** Marks the number of a deleted document. The number stays used. */
export async function tombstoneNumber(session: Session, accountId: Id, documentId: StoredId): Promise<void> {
  await NumberLedger.updateOne(
    { _id: documentId, account_id: accountId },
    { $set: { deleted_at: new Date() } },
    { session },
  );
}

/**
 * Inserts tombstones for numbers that were drawn for no document. Their ids belong to no record.
 * @param given.not_given the printed form that each number would have had.
 */
export async function skipNumbers(
  session: Session,
  {
    accountId,
    kind,
    period = '',
    first,
    count,
    not_given,
  }: {
    accountId: Id;
    kind: NumberKind;
    period?: string;
    first: number;
    count: number;
    not_given?: (number: number) => string;
  },
): Promise<void> {
  const now = new Date();
  const rows = Array.from({ length: count }, (_, index) => ({
    _id: storedId(newId()),
    account_id: storedId(accountId),
    kind,
    period,
    number: first + index,
    ...(not_given ? { not_given: not_given(first + index) } : {}),
    created_at: now,
    deleted_at: now,
  }));
  await driverOf(NumberLedger).insertMany(rows, { session });
}
