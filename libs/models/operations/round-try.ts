// Counts the tries of each record that a round works on, before it does: a record that ends its process, or always fails, is set aside and shown.
import { type InferSchemaType, model, Schema } from 'mongoose';
import pLimit from 'p-limit';
import { agreedDate } from '../../clock.ts';
import { AppError, errorText } from '../../errors.ts';
import { isDuplicate, isUnavailable } from '../../mongo/errors.ts';
import { acrossAccounts, type Id, newId, requiredIdField, type StoredId, storedId, tenant } from '../tenant.ts';

/** Rounds and jobs over the records of all accounts. */
const ROUNDS = [
  'overdue invoices',
  'expired quotes',
  'recurring invoices',
  'fan-outs of events',
  'attempts of deliveries',
  'reconciled endpoints',
  'documents of batches',
] as const;
export type RoundName = (typeof ROUNDS)[number];

/** Tries without a result until a record is set aside. */
export const TRIES_MAX = 3;
/** No unit of work takes so long: a try that began before has ended, and with it its process. */
const IN_PROGRESS_MS = 60_000;
/** What was set aside is tried once in this time: the cause may be repaired by a new version. */
const RETRY_MS = 24 * 3_600_000;
/** A record that is no longer due, such as one that was deleted, leaves its tries behind. */
const KEPT_SECONDS = 30 * 24 * 3_600;
/** Tries that a round knows of. More are left behind only where thousands of records fail. */
const KNOWN_MAX = 10_000;
const ERROR_LONGEST = 500;

const trySchema = new Schema(
  {
    /** `<round>/<id of the record>`. */
    _id: { type: String, required: true },
    account_id: requiredIdField,
    round: { type: String, enum: ROUNDS, required: true },
    record_id: { ...requiredIdField },
    tries: { type: Number, required: true },
    tried_at: { type: Date, required: true },
    /** The next three are there once it is set aside: what went wrong, its id in the log, and when it is tried again. */
    error: String,
    error_id: String,
    retry_at: Date,
  },
  { versionKey: false, strict: 'throw', collection: 'round_tries' },
);
trySchema.plugin(tenant);
trySchema.index({ round: 1, tried_at: -1 });
trySchema.index({ tried_at: 1 }, { expireAfterSeconds: KEPT_SECONDS });
trySchema.index({ error_id: 1 }, { sparse: true });

export type RoundTryRecord = InferSchemaType<typeof trySchema>;

export const RoundTry = model('RoundTry', trySchema);

// A count that an election loses is one try more, and each record of a round writes two.
const writeConcern = { w: 1, j: false } as const;

interface TriedRecord {
  id: StoredId;
  accountId: Id;
}

/** Why a record was set aside. The text is the operator's; the id leads from the owner to it, and to the log. */
export interface SetAside {
  id: string;
  error: string;
}

/**
 * How the work on a record ended. `waits`: it was set aside before, or another process may be working on it. `retryAt`: when a record that is
 * set aside is tried again.
 */
type TryOutcome =
  | { isDone: true }
  | { isDone: false; setAside?: SetAside; retryAt?: Date; error?: unknown; waits?: true };

export interface RoundTries {
  /** A try of it has not ended yet, or ended its process: work on it when no other record can be taken for the cause. */
  isSuspect(id: StoredId): boolean;
  /**
   * @param work ends normally when the record needs nothing more, also when another process has done it. What it throws is a fault of the program.
   * @throws what says that the database is unavailable or the account is busy: that is no fault of the record.
   */
  run(record: TriedRecord, work: () => Promise<void>): Promise<TryOutcome>;
}

/** @param at the time of the round. @param among the only records that the round works on; absent when it may be any. */
export async function openTries(round: RoundName, at: Date, among?: readonly StoredId[]): Promise<RoundTries> {
  const filter = among ? { _id: { $in: among.map((id) => keyOf(round, id)) } } : { round };
  // Covers all accounts, as rounds do.
  const found = await RoundTry.find(filter)
    .setOptions(acrossAccounts)
    .sort({ tried_at: -1 })
    .limit(KNOWN_MAX)
    // A majority may not have the counts of the round before.
    .readConcern('local')
    .lean<RoundTryRecord[]>();
  const known = new Map(found.map((one) => [String(one.record_id), one]));

  function increment({ id, accountId }: TriedRecord) {
    return RoundTry.findOneAndUpdate(
      { _id: keyOf(round, id), account_id: storedId(accountId) },
      {
        $inc: { tries: 1 },
        $set: { tried_at: at },
        $unset: { error: 1, error_id: 1, retry_at: 1 },
        $setOnInsert: { round, record_id: id },
      },
      { upsert: true, returnDocument: 'after', writeConcern },
    ).lean<RoundTryRecord>();
  }

  async function count(record: TriedRecord): Promise<number> {
    try {
      return (await increment(record))?.tries ?? 1;
    } catch (error) {
      // Another process has inserted it at the same moment.
      if (!isDuplicate(error, RoundTry.collection.name)) throw error;
      return (await increment(record))?.tries ?? 1;
    }
  }

  async function setAside(
    { id, accountId }: TriedRecord,
    error: string,
  ): Promise<{ setAside: SetAside; retryAt: Date }> {
    const error_id = newId();
    const retry_at = new Date(at.getTime() + RETRY_MS);
    await RoundTry.updateOne(
      { _id: keyOf(round, id), account_id: storedId(accountId) },
      // One try is left for the time after.
      { $set: { tries: TRIES_MAX - 1, error: error.slice(0, ERROR_LONGEST), error_id, retry_at } },
    );
    return { setAside: { id: error_id, error }, retryAt: retry_at };
  }

  async function forget({ id, accountId }: TriedRecord): Promise<void> {
    await RoundTry.deleteOne({ _id: keyOf(round, id), account_id: storedId(accountId) }, { writeConcern });
    known.delete(String(id));
  }

  return {
    isSuspect: (id) => known.has(String(id)),
    async run(record, work) {
      const before = known.get(String(record.id));
      if (before?.retry_at && before.retry_at > at) return { isDone: false, waits: true, retryAt: before.retry_at };
      if (before && !before.retry_at && before.tries >= TRIES_MAX) {
        if (before.tried_at.getTime() > at.getTime() - IN_PROGRESS_MS) return { isDone: false, waits: true };
        return { isDone: false, ...(await setAside(record, 'The process ended each time it worked on this record')) };
      }
      const tries = await count(record);
      try {
        await work();
      } catch (error) {
        if (isNoFault(error)) {
          await forget(record).catch(() => undefined);
          throw error;
        }
        if (tries < TRIES_MAX) return { isDone: false, error };
        return { isDone: false, error, ...(await setAside(record, errorText(error))) };
      }
      await forget(record);
      return { isDone: true };
    },
  };
}

export type TryAgain = (record: TriedRecord, work: () => Promise<void>) => Promise<TryOutcome>;

/**
 * For workers that count no first run of a job, because hundreds run each second: a run that follows one without a result is counted. A record
 * that was counted before runs when no other such record does in this process, so that its death is counted for no other one.
 * @throws as RoundTries.run.
 */
export function openTryAgain(round: RoundName): TryAgain {
  const alone = pLimit(1);
  return async (record, work) => {
    const read = () => openTries(round, agreedDate(), [record.id]);
    const tries = await read();
    if (!tries.isSuspect(record.id)) return tries.run(record, work);
    return alone(async () => (await read()).run(record, work));
  };
}

function keyOf(round: RoundName, id: StoredId): string {
  return `${round}/${String(id)}`;
}

function isNoFault(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return isUnavailable(error) || isUnavailable(cause) || (error instanceof AppError && error.status === 503);
}

/** What is set aside, the latest first, for the operator. */
export async function findSetAside(most: number): Promise<RoundTryRecord[]> {
  return RoundTry.find({ error_id: { $exists: true } })
    .setOptions(acrossAccounts)
    .sort({ tried_at: -1 })
    .limit(most)
    .lean<RoundTryRecord[]>();
}

export async function countSetAside(): Promise<number> {
  return RoundTry.countDocuments({ error_id: { $exists: true } }).setOptions(acrossAccounts);
}
