// One unit of work: records, numbers and events of an account that commit together or not at all.

import type { Problem } from '../errors.ts';
import { finishCounter, learnSum, pretendChangeTime } from '../models/counter.ts';
import { quotaStep } from '../models/stored-bytes.ts';
import type { Id, StoredId } from '../models/tenant.ts';
import type { Actor } from '../models/webhooks/event-activity.ts';
import type { EventType } from '../models/webhooks/event-types.ts';
import { inTransaction, type Session } from '../mongo/connection.ts';
import type { NumberKind } from '../rules/documents/number-kinds.ts';
import { type DrawnNumber, drawNumber, type Numbering, noNumber } from './draw-number.ts';
import { type AnnounceOptions, pendingEvents } from './pending-events.ts';

/** The context of an operation of the billing core. Its reads and writes go through `session`, one after the other. */
export interface UnitOfWork {
  session: Session;
  accountId: Id;
  /** Draws the next number of a document and enters it in the ledger. A dry run draws none and returns 0. */
  drawNumber: (kind: NumberKind, documentId: StoredId, given: Numbering) => Promise<DrawnNumber>;
  /**
   * Writes an event of the account with the present record. Webhooks go out after the commit.
   * @param data the record in the form of the API.
   */
  announce: (type: EventType, data: unknown, options?: AnnounceOptions) => Promise<Id | undefined>;
  /**
   * Writes one event of this type for each record. The records are all in memory, so a caller with many of them passes
   * them in batches.
   */
  announceAll: (type: EventType, records: readonly unknown[]) => Promise<void>;
  /** The facts that the caller should know of work that is done all the same. The response lists them. */
  warnings: Problem[];
  /** The actor that causes it. Undefined in a dry run. */
  by: Actor | undefined;
  /** True when everything is rolled back. Work may leave out writes that its result does not show. */
  isDryRun: boolean;
}

export interface WorkOptions {
  accountId: Id;
  /** The actor that its events name. */
  by: Actor;
  /** The id of the causing request, which its events carry. */
  requestId?: string | undefined;
  /** The first step of the transaction. Nothing is stored when it throws. */
  beforeWork?: ((session: Session) => Promise<void>) | undefined;
  /**
   * The bytes of records and events that the account may keep. Undefined when it may keep any amount, or when the work
   * frees some.
   */
  quotaBytes?: number | undefined;
}

/**
 * Runs `work` in a transaction and commits it. It may run several times, see inTransaction.
 * @returns its result, and whether it wrote events, which the relay has to enqueue.
 * @throws AppError 409 over the quota.
 */
export async function runUnitOfWork<Result>(
  options: WorkOptions,
  work: (unit: UnitOfWork) => Promise<Result>,
): Promise<{ result: Result; hasEvents: boolean }> {
  return inTransaction(async (session) => {
    await options.beforeWork?.(session);
    const { accountId } = options;
    const events = pendingEvents(session, options);
    const result = await work({
      session,
      accountId,
      drawNumber: (kind, documentId, given) => drawNumber(session, { accountId, kind, documentId }, given),
      announce: events.add,
      announceAll: async (type, records) => {
        for (const data of records) await events.add(type, data);
      },
      warnings: [],
      by: options.by,
      isDryRun: false,
    });
    const hasEvents = await events.write();
    if (options.quotaBytes !== undefined) await learnSum(session, accountId);
    const step = quotaStep(session, options.quotaBytes);
    await finishCounter(session, accountId, step);
    return { result, hasEvents };
  });
}

/** Runs `work` without numbers and events, and rolls everything back. @returns its result. */
export async function rollBackUnitOfWork<Result>(
  accountId: Id,
  work: (unit: UnitOfWork) => Promise<Result>,
): Promise<Result> {
  const unchanged = {
    accountId,
    drawNumber: async (kind: NumberKind, _documentId: StoredId, given: Numbering) => noNumber(kind, given),
    announce: async () => undefined,
    announceAll: async () => undefined,
    by: undefined,
    isDryRun: true,
  };
  try {
    await inTransaction(async (session) => {
      pretendChangeTime(session, new Date());
      throw new RolledBack(await work({ session, ...unchanged, warnings: [] }));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.result as Result;
    throw error;
  }
  throw new Error('a dry run was committed');
}

/** The error that ends a dry run, so that its transaction is aborted. */
class RolledBack extends Error {
  readonly result: unknown;
  constructor(result: unknown) {
    super('rolled back');
    this.result = result;
  }
}
