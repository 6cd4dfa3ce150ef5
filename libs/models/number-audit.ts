// Looks whether an account's numbers are 1, 2, 3 … without a hole, and whether each has its document or its tombstone.

import { inTransaction, type Session } from '../mongo.ts';
import { Counter } from './counter.ts';
import { Invoice } from './invoice.ts';
import type { Position } from './keyset.ts';
import { LIST_LIMIT_MS, type Wanted } from './listing.ts';
import { documentNumber, type NumberKind, NumberLedger, type NumberRecord } from './number-ledger.ts';
import { Quote } from './quote.ts';
import { driverOf } from './records.ts';
import { type Id, storedId } from './tenant.ts';

export interface Audit {
  gapless: boolean;
  /** How many numbers were drawn: the last one, when none is missing. */
  drawn: number;
  /** Numbers with a document, and numbers of deleted drafts or skipped ones. */
  live: number;
  deleted: number;
  /** Numbers that were drawn and are in no ledger row, at most HOLES_SHOWN of them. */
  holes: string[];
  /** Numbers whose document is missing without a tombstone, at most HOLES_SHOWN of them. */
  lost: string[];
}

const HOLES_SHOWN = 100;
const timed = { maxTimeMS: LIST_LIMIT_MS };
const DOCUMENTS = { invoice: Invoice, quote: Quote } as const;

/** Everything is counted as it was at one moment: what is made meanwhile would look like a hole, and looking for it costs a great deal. */
export async function auditNumbers(accountId: Id, kind: NumberKind): Promise<Audit> {
  return inTransaction((session) => auditAtOnce(accountId, kind, session));
}

async function auditAtOnce(accountId: Id, kind: NumberKind, session: Session): Promise<Audit> {
  const account_id = storedId(accountId);
  const count = (records: Pick<ReturnType<typeof driverOf>, 'countDocuments'>, filter: object) =>
    records.countDocuments(filter, { ...timed, session });
  const counter = await Counter.findById(accountId).session(session).lean();
  const drawn = counter?.[kind] ?? 0;
  const rows = await count(driverOf(NumberLedger), { account_id, kind });
  const deleted = await count(driverOf(NumberLedger), { account_id, kind, deleted_at: { $exists: true } });
  const documents = await count(driverOf(DOCUMENTS[kind]), { account_id });
  const holes = rows === drawn ? [] : await findHoles(accountId, { kind, drawn, session });
  const lost = documents === rows - deleted ? [] : await findLost(accountId, kind, session);
  const live = rows - deleted - lost.length;
  const name = (number: number) => documentNumber(kind, number);
  return {
    gapless: holes.length === 0 && lost.length === 0,
    drawn,
    live,
    deleted,
    holes: holes.map(name),
    lost: lost.map(name),
  };
}

/** A page of the ledger, by kind and number. */
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
        sort: { account_id: 1, kind: 1, number: 1 },
        skip: offset,
        limit: limit + 1,
        ...timed,
      })
      .toArray() as unknown as Promise<NumberRecord[]>,
    ledger.countDocuments(filter, timed),
  ]);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next =
    rows.length > limit && last ? { next: { value: `${last.kind} ${last.number}`, id: String(last._id) } } : {};
  return { numbers: shown.map(numberView), total, ...next };
}

/** The order of the ledger is that of kind and number, which together are the value of a position. */
function numbersAfter({ value }: Position, kinds: readonly NumberKind[]): object {
  const [kind = '', number = ''] = String(value).split(' ');
  const further = kinds.filter((one) => one > kind);
  return { kind: { $in: [kind, ...further] }, $or: [{ kind: { $in: further } }, { number: { $gt: Number(number) } }] };
}

function numberView(row: NumberRecord) {
  return {
    number: documentNumber(row.kind, row.number),
    kind: row.kind,
    /** The document's id, even when it is gone. */
    document_id: String(row._id),
    drawn_at: row.created_at.toISOString(),
    deleted_at: row.deleted_at?.toISOString() ?? null,
  };
}

async function findHoles(
  accountId: Id,
  { kind, drawn, session }: { kind: NumberKind; drawn: number; session: Session },
): Promise<number[]> {
  const rows = driverOf(NumberLedger).find({ account_id: storedId(accountId), kind } as object, {
    sort: { account_id: 1, kind: 1, number: 1 },
    projection: { number: 1 },
    ...timed,
    session,
  });
  const holes: number[] = [];
  let expected = 1;
  for await (const row of rows) {
    const { number } = row as unknown as NumberRecord;
    for (; expected < number && holes.length < HOLES_SHOWN; expected += 1) holes.push(expected);
    expected = number + 1;
  }
  for (; expected <= drawn && holes.length < HOLES_SHOWN; expected += 1) holes.push(expected);
  return holes;
}

async function findLost(accountId: Id, kind: NumberKind, session: Session): Promise<number[]> {
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
  return (rows as unknown as NumberRecord[]).map(({ number }) => number);
}
