// Classifies errors of MongoDB and its driver: the store is unavailable, the outcome of a write is unknown, or the request is wrong.
import mongoose from 'mongoose';

/**
 * True when a write may or may not be stored. The driver sets no label when it abandoned the connection before the
 * response arrived, or when it found no primary for its retry. Those errors count as unknown, because a caller that
 * reads "nothing was stored" must be able to rely on it.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  if (hasLabel(error, 'TransientTransactionError')) return false; // The server confirms that it did not commit.
  // This is a socket error, or the driver's wrapper of one. Neither is a response of the server.
  if (!(error instanceof mongoose.mongo.MongoError)) return true;
  return (
    hasLabel(error, 'UnknownTransactionCommitResult') ||
    isUnavailable(error) ||
    isInterrupted(error) ||
    isUnconfirmed(error)
  );
}

/**
 * True for NoSuchTransaction without the label: a majority has not yet confirmed that the commit failed. A retry
 * resolves it.
 */
function isUnconfirmed(error: unknown): boolean {
  return hasCode(error, NO_SUCH_TRANSACTION);
}

const NO_SUCH_TRANSACTION = 251;

/**
 * True when a statement of a transaction failed, so that nothing was stored and the transaction may be retried. The
 * driver sets no label on the error of a connection that it had already abandoned.
 */
export function isTransient(error: unknown): boolean {
  return (
    hasLabel(error, 'TransientTransactionError') ||
    isInterrupted(error) ||
    error instanceof mongoose.mongo.MongoNetworkError
  );
}

/**
 * Returns an error that makes a transaction start again, because it relied on a record that another transaction has
 * changed.
 */
export function staleRead(message: string): Error {
  const error = new mongoose.mongo.MongoError(message);
  error.addErrorLabel('TransientTransactionError');
  return error;
}

/** True when another process killed the session, see endAbandoned. */
function isInterrupted(error: unknown): boolean {
  return hasCode(error, INTERRUPTED);
}

const INTERRUPTED = 11_601;

/**
 * The codes of servers that are stopping, stepping down or isolated. The driver retries a read once before it reports
 * these.
 */
const UNAVAILABLE_CODES: ReadonlySet<unknown> = new Set([
  6, 7, 89, 91, 134, 189, 262, 9001, 10_107, 11_600, 11_602, 13_435, 13_436,
]);

/** True for errors that mean "the store is unavailable", not "the request is wrong". */
export function isUnavailable(error: unknown): boolean {
  return (
    error instanceof mongoose.mongo.MongoServerSelectionError ||
    error instanceof mongoose.mongo.MongoNetworkError ||
    error instanceof mongoose.mongo.MongoNotConnectedError ||
    error instanceof mongoose.mongo.MongoTopologyClosedError ||
    error instanceof mongoose.mongo.MongoOperationTimeoutError ||
    error instanceof mongoose.Error.MongooseServerSelectionError ||
    (error instanceof mongoose.mongo.MongoServerError && UNAVAILABLE_CODES.has(error.code)) ||
    hasLabel(error, 'RetryableWriteError') ||
    // A bulk write wraps the error that ended it.
    (error instanceof mongoose.mongo.MongoBulkWriteError && isUnavailable(error.errorResponse))
  );
}

/** True when an operation exceeded its `maxTimeMS`. */
export function isOutOfTime(error: unknown): boolean {
  return hasCode(error, OUT_OF_TIME);
}

const OUT_OF_TIME = 50;

/** True when MongoDB gave no response: it is unavailable or ran out of time. */
export function isUnanswered(error: unknown): boolean {
  return isUnavailable(error) || isOutOfTime(error);
}

/** True when a unique index rejected the write. @param collection limits the check to one collection. */
export function isDuplicate(error: unknown, collection?: string): boolean {
  return hasCode(error, DUPLICATE) && (!collection || (error as Error).message.includes(`.${collection} `));
}

const DUPLICATE = 11_000;

/**
 * Returns the positions of the writes of an unordered bulk that a unique index rejected. Undefined when any other write
 * failed.
 */
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
