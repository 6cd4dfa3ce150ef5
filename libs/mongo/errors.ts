// What an error of MongoDB or its driver means: that the store is away, that nobody knows what became of a write, or that the request is wrong.
import mongoose from 'mongoose';

// The driver's label is missing when the connection was given up while the answer was on its way, and when no primary was found
// for the second try. A caller who is told that nothing was stored must be able to rely on it.
export function isOutcomeUnknown(error: unknown): boolean {
  if (hasLabel(error, 'TransientTransactionError')) return false; // The server's word that it was not committed.
  // The socket's own error, or the driver's own when it takes that for one of its: neither is an answer.
  if (!(error instanceof mongoose.mongo.MongoError)) return true;
  return (
    hasLabel(error, 'UnknownTransactionCommitResult') ||
    isUnavailable(error) ||
    isInterrupted(error) ||
    isUnconfirmed(error)
  );
}

/** "There is no such transaction", said without the label: a majority has not confirmed that it was not committed. Asked again, it will. */
function isUnconfirmed(error: unknown): boolean {
  return hasCode(error, NO_SUCH_TRANSACTION);
}

const NO_SUCH_TRANSACTION = 251;

/**
 * True when a statement of a transaction failed, so that nothing of it was stored, and it may be begun again. The driver puts no label on the
 * error of a connection that it had given up already.
 */
export function isTransient(error: unknown): boolean {
  return (
    hasLabel(error, 'TransientTransactionError') ||
    isInterrupted(error) ||
    error instanceof mongoose.mongo.MongoNetworkError
  );
}

/** Somebody ended its session, see endAbandoned. */
function isInterrupted(error: unknown): boolean {
  return hasCode(error, INTERRUPTED);
}

const INTERRUPTED = 11_601;

/** Servers that are stopping, stepping down or cannot reach the others: the driver tries a read once more, and then says so. */
const AWAY_CODES: ReadonlySet<unknown> = new Set([
  6, 7, 89, 91, 134, 189, 262, 9001, 10_107, 11_600, 11_602, 13_435, 13_436,
]);

/** True for the errors that mean "the store is away", not "the request is wrong". */
export function isUnavailable(error: unknown): boolean {
  return (
    error instanceof mongoose.mongo.MongoServerSelectionError ||
    error instanceof mongoose.mongo.MongoNetworkError ||
    error instanceof mongoose.mongo.MongoNotConnectedError ||
    error instanceof mongoose.mongo.MongoTopologyClosedError ||
    error instanceof mongoose.mongo.MongoOperationTimeoutError ||
    error instanceof mongoose.Error.MongooseServerSelectionError ||
    (error instanceof mongoose.mongo.MongoServerError && AWAY_CODES.has(error.code)) ||
    hasLabel(error, 'RetryableWriteError') ||
    // Of many writes at once: it carries whatever ended them.
    (error instanceof mongoose.mongo.MongoBulkWriteError && isUnavailable(error.errorResponse))
  );
}

/** True when MongoDB did not get done within the `maxTimeMS` that it was given. */
export function isOutOfTime(error: unknown): boolean {
  return hasCode(error, OUT_OF_TIME);
}

const OUT_OF_TIME = 50;

/** True when MongoDB gave no answer: it is away, or was not done in time. */
export function isUnanswered(error: unknown): boolean {
  return isUnavailable(error) || isOutOfTime(error);
}

/** True when a unique index refused the write. @param collection its name, where only that one is meant. */
export function isDuplicate(error: unknown, collection?: string): boolean {
  return hasCode(error, DUPLICATE) && (!collection || (error as Error).message.includes(`.${collection} `));
}

const DUPLICATE = 11_000;

/** @returns the positions of the writes a unique index refused, undefined when anything else went wrong with an unordered bulk. */
export function duplicatesIn(error: unknown): Set<number> | undefined {
  if (!(error instanceof mongoose.mongo.MongoBulkWriteError)) return undefined;
  const errors = [error.writeErrors].flat();
  if (errors.length === 0 || error.result.getWriteConcernError()) return undefined;
  return errors.every(({ code }) => code === DUPLICATE) ? new Set(errors.map(({ index }) => index)) : undefined;
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof mongoose.mongo.MongoServerError && error.code === code;
}

function hasLabel(error: unknown, label: string): boolean {
  return error instanceof mongoose.mongo.MongoError && error.hasErrorLabel(label);
}
