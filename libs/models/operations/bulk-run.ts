// An action of an operator on many records, with its progress and the point at which another process continues.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate } from '../../clock.ts';
import { idField, newId } from '../tenant.ts';

const BULK_KINDS = ['replay-deliveries', 'retry-jobs', 'retry-mail'] as const;
export type BulkKind = (typeof BULK_KINDS)[number];
export type BulkState = 'running' | 'done' | 'stopped' | 'failed';

/** A run whose process has not written for this long counts as interrupted. */
const SILENT_MS = 30_000;
const KEPT_SECONDS = 90 * 24 * 3600;

const bulkSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    kind: { type: String, required: true, enum: BULK_KINDS },
    /** A title in words, for people. */
    title: { type: String, required: true },
    /** The query string of the search that it started from, or the name of a queue. */
    selection: { type: String, required: true },
    state: { type: String, required: true, enum: ['running', 'done', 'stopped', 'failed'] },
    /** The number of matching records at the start. */
    total: { type: Number, required: true },
    done: { type: Number, required: true, default: 0 },
    /** The number of records that were deleted or changed since the start, or that failed. The log has the errors. */
    skipped: { type: Number, required: true, default: 0 },
    /** The id of the last processed record. */
    position: String,
    stop_requested: { type: Boolean, required: true, default: false },
    problem: String,
    operator: { type: String, required: true },
    /** The lease of the process that works on the run. It is new each time a process takes the run over. */
    runner: { type: String, required: true, default: newId },
    created_at: { type: Date, required: true },
    /** The time of the last heartbeat of its process. */
    updated_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'bulk_runs' },
);
bulkSchema.index({ created_at: -1 }, { expireAfterSeconds: KEPT_SECONDS });

export type BulkRecord = InferSchemaType<typeof bulkSchema>;

export const BulkRun = model('BulkRun', bulkSchema);

/** Returns the state. `interrupted` means that the stored state is `running`, but no process works on the run. */
export function bulkStateOf(run: BulkRecord, now: Date = agreedDate()): BulkState | 'interrupted' {
  const isSilent = now.getTime() - run.updated_at.getTime() > SILENT_MS;
  return run.state === 'running' && isSilent ? 'interrupted' : (run.state as BulkState);
}

/**
 * Records progress.
 * @returns false when the run must stop: an operator asked for it, or another process took the run over.
 */
export async function advanceBulk(
  run: Pick<BulkRecord, '_id' | 'runner'>,
  step: { done: number; skipped: number; position?: string | undefined },
): Promise<boolean> {
  const after = await BulkRun.findOneAndUpdate(
    runningAs(run),
    {
      $inc: { done: step.done, skipped: step.skipped },
      $set: { updated_at: agreedDate(), ...(step.position ? { position: step.position } : {}) },
    },
    { returnDocument: 'after' },
  ).lean<BulkRecord>();
  return after !== null && !after.stop_requested;
}

/** Ends the run. Does nothing when another process has taken it over. */
export async function endBulk(
  run: Pick<BulkRecord, '_id' | 'runner'>,
  state: BulkState,
  problem?: string,
): Promise<void> {
  await BulkRun.updateOne(runningAs(run), {
    $set: { state, updated_at: agreedDate(), ...(problem ? { problem } : {}) },
  });
}

function runningAs({ _id, runner }: Pick<BulkRecord, '_id' | 'runner'>) {
  return { _id, runner, state: 'running' as const };
}

/**
 * Asks a run to stop. An interrupted run has no process to ask and is stopped here.
 * @returns null when the run had ended.
 */
export async function stopBulk(id: string, now: Date = agreedDate()): Promise<BulkRecord | null> {
  const silentSince = new Date(now.getTime() - SILENT_MS);
  const stopped = await BulkRun.findOneAndUpdate(
    { _id: id, state: 'running', updated_at: { $lt: silentSince } },
    { $set: { state: 'stopped', updated_at: now } },
    { returnDocument: 'after' },
  ).lean<BulkRecord>();
  if (stopped) return stopped;
  return BulkRun.findOneAndUpdate(
    { _id: id, state: 'running' },
    { $set: { stop_requested: true } },
    { returnDocument: 'after' },
  ).lean<BulkRecord>();
}

/** Takes over a run that was interrupted, stopped or failed. @returns null when it is in another state. */
export async function resumeBulk(id: string, now: Date = agreedDate()): Promise<BulkRecord | null> {
  const silentSince = new Date(now.getTime() - SILENT_MS);
  return BulkRun.findOneAndUpdate(
    {
      _id: id,
      $or: [{ state: 'running', updated_at: { $lt: silentSince } }, { state: { $in: ['stopped', 'failed'] } }],
    },
    { $set: { state: 'running', runner: newId(), stop_requested: false, updated_at: now }, $unset: { problem: 1 } },
    { returnDocument: 'after' },
  ).lean<BulkRecord>();
}
