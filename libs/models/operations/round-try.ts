// Counts the tries of each record in a round before the work begins. A record that ends its process or always fails is
// set aside and shown.
import { type ClientSession, type InferSchemaType, model, Schema } from 'mongoose';
import pLimit from 'p-limit';
import { agreedDate } from '../../clock.ts';
import { AppError, errorText } from '../../errors.ts';
import { isDuplicate, isUnavailable } from '../../mongo/errors.ts';
import { acrossAccounts, type Id, newId, requiredIdField, type StoredId, storedId, tenant } from '../tenant.ts';

/** Rounds and jobs that work on the records of all accounts. */
const ROUNDS = [
  'overdue invoices',
  'expired quotes',
  'recurring invoices',
  'broken promises',
  'fan-outs of events',
  'attempts of deliveries',
  'attempts of mails',
  'reconciled endpoints',
  'documents of batches',
  'reminders',
  'follow-ups',
] as const;
export type RoundName = (typeof ROUNDS)[number];

/** The number of tries without a result after which a record is set aside. */
export const TRIES_MAX = 3;
/** Longer than any unit of work takes. A try that began before this time has ended, and its process with it. */
const IN_PROGRESS_MS = 60_000;
/**
 * The interval at which a record that was set aside is tried again, because a new version may have repaired the cause.
 */
const RETRY_MS = 24 * 3_600_000;
/** The time that tries are kept. A record that is no longer due, such as a deleted one, leaves its tries behind. */
const KEPT_SECONDS = 30 * 24 * 3_600;
/** The most tries that a round reads. There are more only where thousands of records fail. */
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
    /** The error that set the record aside. Absent before, like its id in the log and the time of the next try. */
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

// An election may lose a count, which only allows one try more. Each record of a round writes two counts, so they must
// be cheap.
const writeConcern = { w: 1, j: false } as const;

interface TriedRecord {
  id: StoredId;
  accountId: Id;
}

/**
 * The reason for setting a record aside. The text is for the operator; the id leads from the owner to the text and to
 * the log.
 */
export interface SetAside {
  id: string;
  error: string;
}

/**
 * The result of the work on a record.
 * - `waits`: the record was set aside before, or another process may be working on it.
 * - `retryAt`: the time at which a record that is set aside is tried again.
 */
type TryOutcome =
  | { isDone: true }
  | { isDone: false; setAside?: SetAside; retryAt?: Date; error?: unknown; waits?: true };

export interface RoundTries {
  /**
   * True when a try of the record has not ended, or ended its process. Work on such a record alone, so that it takes no
   * other with it.
   */
  isSuspect(id: StoredId): boolean;
  /** True when any record is suspect. */
  hasSuspects(): boolean;
  /**
   * Works on a record and counts the try. An error of an account that is busy is returned, and the try does not count.
   * @param work returns when the record needs nothing more, also when another process has done it. An error of it is a
   * fault of the program.
   * @throws the errors that are no fault of the record: the database is unavailable.
   */
  run(record: TriedRecord, work: () => Promise<void>): Promise<TryOutcome>;
}

/**
 * Reads the tries of a round.
 * @param at the time of the round.
 * @param among the only records of the round; absent when it may be any.
 */
export async function openTries(round: RoundName, at: Date, among?: readonly StoredId[]): Promise<RoundTries> {
  const filter = among ? { _id: { $in: among.map((id) => keyOf(round, id)) } } : { round };
  // A round covers all accounts.
  const found = await RoundTry.find(filter)
    .setOptions(acrossAccounts)
    .sort({ tried_at: -1 })
    .limit(KNOWN_MAX)
    // A majority read may lack the counts of the round before.
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
      // Another process inserted the record at the same moment.
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
      // One try is left for the time after `retry_at`.
      { $set: { tries: TRIES_MAX - 1, error: error.slice(0, ERROR_LONGEST), error_id, retry_at } },
    );
    return { setAside: { id: error_id, error }, retryAt: retry_at };
  }

  async function forget(record: TriedRecord): Promise<void> {
    await forgetTries(round, record, { writeConcern });
    known.delete(String(record.id));
  }

  async function counted(record: TriedRecord, work: () => Promise<void>): Promise<TryOutcome> {
    const tries = await count(record);
    try {
      await work();
    } catch (error) {
      if (isNoFault(error)) {
        await forget(record).catch(() => undefined);
        if (isBusy(error)) return { isDone: false, error };
        throw error;
      }
      if (tries < TRIES_MAX) return { isDone: false, error };
      return { isDone: false, error, ...(await setAside(record, errorText(error))) };
    }
    await forget(record);
    return { isDone: true };
  }

  return {
    isSuspect: (id) => known.has(String(id)),
    hasSuspects: () => known.size > 0,
    async run(record, work) {
      const before = known.get(String(record.id));
      if (before?.retry_at && before.retry_at > at) return { isDone: false, waits: true, retryAt: before.retry_at };
      if (before && !before.retry_at && before.tries >= TRIES_MAX) {
        if (before.tried_at.getTime() > at.getTime() - IN_PROGRESS_MS) return { isDone: false, waits: true };
        return { isDone: false, ...(await setAside(record, 'The process ended each time it worked on this record')) };
      }
      const undo = () => forget(record);
      inWork.add(undo);
      try {
        return await counted(record, work);
      } finally {
        inWork.delete(undo);
      }
    },
  };
}

export type TryAgain = (record: TriedRecord, work: () => Promise<void>) => Promise<TryOutcome>;

/**
 * Opens the tries of a worker whose jobs are not counted at first, because hundreds run each second. Only a run that
 * follows one without a result is counted. A counted record runs alone among such records of this process, so that the
 * end of the process is its fault only.
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

/** The undo of each try of this process whose work has not ended. */
const inWork = new Set<() => Promise<void>>();

/** Forgets the tries whose work breaks off because the service stops in order: a stop is no fault of the record. */
export async function forgetTriesInWork(): Promise<void> {
  await Promise.all([...inWork].map((undo) => undo()));
}

/** Forgets the tries of a record, which needs nothing more or which a person has tried again. */
export async function forgetTries(
  round: RoundName,
  { id, accountId }: TriedRecord,
  options: { session: ClientSession } | { writeConcern: typeof writeConcern },
): Promise<void> {
  await RoundTry.deleteOne({ _id: keyOf(round, id), account_id: storedId(accountId) }, options);
}

function isNoFault(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return isUnavailable(error) || isUnavailable(cause) || (error instanceof AppError && error.status === 503);
}

function isBusy(error: unknown): boolean {
  return error instanceof AppError && error.code === 'record_busy' && !isUnavailable(error.cause);
}

/** Returns the records that are set aside, the latest first, for the operator. */
export async function findSetAside(most: number): Promise<RoundTryRecord[]> {
  return RoundTry.find({ error_id: { $exists: true } })
    .setOptions(acrossAccounts)
    .sort({ tried_at: -1 })
    .limit(most)
    .lean<RoundTryRecord[]>();
}

/** Returns the number of records that are set aside. */
export async function countSetAside(): Promise<number> {
  return RoundTry.countDocuments({ error_id: { $exists: true } }).setOptions(acrossAccounts);
}
