// The audit log: every login, every rejected login, and every action of an operator.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { errorText } from '../../errors.ts';
import { type Id, idField, newId } from '../tenant.ts';

/** Longer than a yearly review looks back. MongoDB removes older entries. */
const KEPT_SECONDS = 400 * 24 * 3600;

/**
 * `begun`: the outcome could not be recorded, for instance because the process ended. `refused`: not allowed, or
 * nothing to do.
 */
export const AUDIT_OUTCOMES = ['done', 'refused', 'failed', 'begun'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** `act` stands for any action that a viewer tried. */
export const AUDIT_ACTIONS = [
  'login',
  'logout',
  'act',
  'queue.pause',
  'queue.resume',
  'job.retry',
  'jobs.retry',
  'job.remove',
  'jobs.remove',
  'delivery.replay',
  'deliveries.replay',
  'message.retry',
  'messages.retry',
  'bulk.stop',
  'bulk.continue',
  'operator.create',
  'operator.remove',
  'numbers.advance',
  'account.create',
  'account.update',
  'account.recount',
  'key.create',
  'key.revoke',
  'key.rotate',
  'webhook.create',
  'webhook.enable',
  'webhook.disable',
  'webhook.ping',
  'webhooks.reseal',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

const auditSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    at: { type: Date, required: true, default: () => new Date() },
    /**
     * The operator's name at that time, or the typed name of a rejected login. `command line` for the admin command.
     */
    operator: { type: String, required: true },
    /** The network address of the browser. Absent for the command line. */
    address: String,
    action: { type: String, required: true, enum: AUDIT_ACTIONS },
    /** The target: a queue's name, an id, a filter in words. */
    target: String,
    outcome: { type: String, required: true, enum: AUDIT_OUTCOMES },
    /**
     * One line about the result: how many records, the id of a new one, or the reason of a refusal. It never has a key
     * or a secret.
     */
    detail: String,
  },
  { versionKey: false, strict: 'throw', collection: 'audit_entries' },
);
auditSchema.index({ at: -1 }, { expireAfterSeconds: KEPT_SECONDS });
auditSchema.index({ operator: 1, at: -1 });

export type AuditRecord = InferSchemaType<typeof auditSchema>;

export const AuditEntry = model('AuditEntry', auditSchema);

export interface AuditedAction {
  operator: string;
  address?: string | undefined;
  action: AuditAction;
  target?: string | undefined;
}

/** Writes one entry about an action that has ended. */
export async function audit(auditedAction: AuditedAction, outcome: AuditOutcome, detail?: string): Promise<void> {
  await AuditEntry.create({ ...present(auditedAction), outcome, ...(detail ? { detail } : {}) });
}

/**
 * Does `work` between two writes to the audit log. If the first write fails, the action is not done.
 * @param work returns one line about the outcome, for the log and for the operator.
 */
export async function audited<Result extends { detail?: string }>(
  auditedAction: AuditedAction,
  work: () => Promise<Result>,
): Promise<Result & { entryId: Id }> {
  const entry = await AuditEntry.create({ ...present(auditedAction), outcome: 'begun' });
  const finish = async (outcome: AuditOutcome, detail: string | undefined) => {
    const $set = { outcome, ...(detail ? { detail } : {}) };
    // If this write fails, the entry stays `begun`. The action is done all the same: its result (such as a key that is
    // shown once) or its own error goes to the operator.
    await AuditEntry.updateOne({ _id: entry._id }, { $set }).catch(() => undefined);
  };
  let result: Result;
  try {
    result = await work();
  } catch (error) {
    await finish('failed', errorText(error));
    throw error;
  }
  await finish('done', result.detail);
  return { ...result, entryId: String(entry._id) };
}

function present({ operator, address, action, target }: AuditedAction) {
  return { operator, action, ...(address ? { address } : {}), ...(target ? { target } : {}) };
}
