// Records the actions of this command line in the audit log.
import { AppError } from '#libs/errors.ts';
import { type AuditAction, audited } from '#libs/models/operations/audit-entry.ts';
import { CommandError } from './connection.ts';

/** The name of this command line in the audit log. */
const ACTOR = 'command line';

/**
 * Runs `work` and records it in the audit log with its detail or error message. Validate arguments first, because a key
 * pasted in place of an id would be recorded, too.
 * @throws CommandError for an AppError, with its details, which are not recorded.
 */
export async function recorded<Result extends { detail?: string }>(
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
