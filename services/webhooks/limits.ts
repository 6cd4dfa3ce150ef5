// Limits that several steps of a delivery must agree on.

/** The time for which a first attempt is reserved for its job. After that the poller looks after it. */
export const RESERVED_MS = 30_000;

/** The time after which a delivery that is due and was enqueued is enqueued again, in case Redis has lost the job. */
export const ENQUEUE_GRACE_MS = 10_000;

/**
 * The most first attempts on their queue, including those that enqueued events will make.
 * - MongoDB holds the backlog, not Redis, and no attempt waits there so long that its reservation expires.
 * - Apart from each first attempt's second one, only the relay fills this queue, so no backlog can delay new events.
 */
export const FIRST_ATTEMPTS_QUEUED_MAX = 4_000;
