// Checks that an account's numbers are 1, 2, 3 … without a hole, and that each has its document or its tombstone.

import { sumBy } from 'es-toolkit/math/sumBy';
import { inTransaction, type Session } from '../../mongo/connection.ts';
import type { NumberKind } from '../../rules/documents/number-kinds.ts';
import type { Position } from '../keyset.ts';
import { LIST_LIMIT_MS } from '../list-total.ts';
import type { Wanted } from '../listing.ts';
import { driverOf } from '../records.ts';
import { sequencesOf } from '../sequences.ts';
import { type Id, storedId } from '../tenant.ts';
import { CreditNote } from './credit-note.ts';
import { Invoice } from './invoice.ts';
import { documentNumber, NumberLedger, type NumberRecord } from './number-ledger.ts';
import { Payment } from './payment.ts';
import { Quote } from './quote.ts';

export interface NumberAudit {
  gapless: boolean;
  /** The count of drawn numbers. It is the last one when none is missing. */
  drawn: number;
  /** The counts of numbers with a document, and of numbers of deleted drafts or skipped ones. */
  live: number;
  deleted: number;
  /** Numbers that were drawn and are in no ledger row: at most HOLES_SHOWN of them. */
  holes: string[];
  /** Numbers whose document is gone without a tombstone: at most HOLES_SHOWN of them. */
  lost: string[];
  /** The sequences of the kind: one for all years, or one for each. */
  sequences: { period: string | null; first: number; last: number }[];
}

const HOLES_SHOWN = 100;
const timed = { maxTimeMS: LIST_LIMIT_MS };
const DOCUMENTS = { credit_note: CreditNote, invoice: Invoice, payment: Payment, quote: Quote } as const;

/**
 * Counts everything as of one moment. A document made meanwhile would look like a hole, and the search for a hole is
 * expensive.
 */
export async function auditNumbers(accountId: Id, kind: NumberKind): Promise<NumberAudit> {
  return inTransaction((session) => auditAtOnce(accountId, kind, session));
}

async function auditAtOnce(accountId: Id, kind: NumberKind, session: Session): Promise<NumberAudit> {
  const account_id = storedId(accountId);
  const count = (records: Pick<ReturnType<typeof driverOf>, 'countDocuments'>, filter: object) =>
    records.countDocuments(filter, { ...timed, session });
  const sequences = await sequencesOf(session, accountId, kind);
  const drawn = sumBy(sequences, ({ first, last }) => last - first + 1);
  const deleted = await count(driverOf(NumberLedger), { account_id, kind, deleted_at: { $exists: true } });
  const documents = await count(driverOf(DOCUMENTS[kind]), { account_id });
  const holes: string[] = [];
  let rows = 0;
  for (const sequence of sequences) {
    const { period, first, last } = sequence;
    // A row beyond the sequence must not hide a hole.
    const found = await count(driverOf(NumberLedger), {
      account_id,
      kind,
      period,
      number: { $gte: first, $lte: last },
    });
    rows += found;
    if (found === last - first + 1) continue;
    const name = (number: number) => (period ? `${period}: ${number}` : documentNumber(kind, number));
    holes.push(...(await findHoles(accountId, { kind, ...sequence, session })).map(name));
  }
  // A document without a row leaves a hole, and must not hide a lost document.
  const isComplete = holes.length === 0 && documents === rows - deleted;
  const lost = isComplete ? [] : await findLost(accountId, kind, session);
  return {
    gapless: holes.length === 0 && lost.length === 0,
    drawn,
    live: rows - deleted - lost.length,
    deleted,
    holes: holes.slice(0, HOLES_SHOWN),
    lost: lost.map((row) => row.text ?? documentNumber(kind, row.number)),
    sequences: sequences.map(({ period, first, last }) => ({ period: period || null, first, last })),
  };
}

/** Returns a page of the ledger, by kind and number. */
export async function numberPage(
  accountId: Id,
  kinds: readonly NumberKind[],
  { limit, offset, after }: Pick<Wanted, 'limit' | 'offset' | 'after'>,
) {
  const filter = { account_id: storedId(accountId), kind: { $in: [...kinds] } } as object;
  const ledger = driverOf(NumberLedger);
  const [rows, total] = await Promise.all([
    ledger
      .find(after ? { ...filter, ...numbersAfter(after, kinds) } : filter, {
        sort: { account_id: 1, kind: 1, period: 1, number: 1 },
        skip: offset,
        limit: limit + 1,
        ...timed,
      })
      .toArray() as unknown as Promise<NumberRecord[]>,
    ledger.countDocuments(filter, timed),
  ]);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next = rows.length > limit && last ? { next: { value: placeOf(last), id: String(last._id) } } : {};
  return { numbers: shown.map(numberView), total, ...next };
}

/**
 * Returns the position of a row. The ledger is in the order of kind, year and number, which together make up the
 * position.
 */
function placeOf({ kind, period = '', number }: NumberRecord): string {
  return `${kind} ${number} ${period}`;
}

function numbersAfter({ value }: Position, kinds: readonly NumberKind[]): object {
  const [kind = '', number = '', period = ''] = String(value).split(' ');
  const further = kinds.filter((one) => one > kind);
  return {
    kind: { $in: [kind, ...further] },
    $or: [
      { kind: { $in: further } },
      { kind, period: { $gt: period } },
      { kind, period, number: { $gt: Number(number) } },
    ],
  };
}

function numberView(row: NumberRecord) {
  return {
    number: row.text ?? row.not_given ?? documentNumber(row.kind, row.number),
    kind: row.kind,
    /** The id of the document, which may be gone. */
    document_id: String(row._id),
    drawn_at: row.created_at.toISOString(),
    deleted_at: row.deleted_at?.toISOString() ?? null,
  };
}

async function findHoles(
  accountId: Id,
  {
    kind,
    period,
    first,
    last,
    session,
  }: { kind: NumberKind; period: string; first: number; last: number; session: Session },
): Promise<number[]> {
  const drawn = { account_id: storedId(accountId), kind, period, number: { $gte: first, $lte: last } };
  const rows = driverOf(NumberLedger).find(drawn as object, {
    sort: { account_id: 1, kind: 1, period: 1, number: 1 },
    projection: { number: 1 },
    ...timed,
    session,
  });
  const holes: number[] = [];
  let expected = first;
  for await (const row of rows) {
    const { number } = row as unknown as NumberRecord;
    for (; expected < number && holes.length < HOLES_SHOWN; expected += 1) holes.push(expected);
    expected = number + 1;
  }
  for (; expected <= last && holes.length < HOLES_SHOWN; expected += 1) holes.push(expected);
  return holes;
}

async function findLost(accountId: Id, kind: NumberKind, session: Session): Promise<NumberRecord[]> {
  const rows = await driverOf(NumberLedger)
    .aggregate(
      [
        { $match: { account_id: storedId(accountId), kind, deleted_at: { $exists: false } } },
        {
          $lookup: {
            from: DOCUMENTS[kind].collection.name,
            localField: '_id',
            foreignField: '_id',
            pipeline: [{ $match: { account_id: storedId(accountId) } }, { $project: { _id: 1 } }],
            as: 'documents',
          },
        },
        { $match: { documents: [] } },
        { $limit: HOLES_SHOWN },
      ],
      { ...timed, session },
    )
    .toArray();
  return rows as unknown as NumberRecord[];
}
