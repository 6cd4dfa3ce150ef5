// What this command line does, in the audit log.
import { AppError } from '#libs/errors.ts';
import { type AuditAction, audited } from '#libs/models/operations/audit-entry.ts';
import { CommandError } from './connection.ts';

/** As the audit log names this command line. */
export const ACTOR = 'command line';

/**
 * Does `work` with an entry in the audit log. Its detail, or the message of its error, is kept there: what was typed must be
 * looked at before, as a key pasted in place of an id would be kept, too.
 * @throws CommandError for an AppError, with its details, which are not kept.
 */
export async function noted<Result extends { detail?: string }>(
  action: AuditAction,
  target: string | undefined,
  work: () => Promise<Result>,
) {
  try {
    return await audited({ operator: ACTOR, action, target }, work);
  } catch (error) {
    throw error instanceof AppError ? new CommandError(wordsOf(error)) : error;
  }
}

function wordsOf({ message, details }: AppError): string {
  return details ? `${message}: ${Object.values(details).flat().join('; ')}` : message;
}
