// What this command line does, in the audit log.
import { type AuditAction, audited } from '#libs/models/audit-entry.ts';

/** As the audit log names this command line. */
export const ACTOR = 'command line';

/**
 * Does `work` with an entry in the audit log. Its detail, or the message of its error, is kept there: what was typed must be
 * looked at before, as a key pasted in place of an id would be kept, too.
 */
export function noted<Result extends { detail?: string }>(
  action: AuditAction,
  target: string | undefined,
  work: () => Promise<Result>,
) {
  return audited({ operator: ACTOR, action, target }, work);
}
