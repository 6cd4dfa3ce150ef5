// Takes the next mail server whose test is due, of any account.
import { agreedDate } from '#libs/clock.ts';
import { claimDue } from '#libs/models/claim-due.ts';
import { MailServer, type MailServerRecord } from '#libs/models/messages/mail-server.ts';

/** Returns a server that no other process tests until the lease ends, or undefined when no test is due. */
export function acquireTest(leaseMs: number, now: Date = agreedDate()): Promise<MailServerRecord | undefined> {
  return claimDue(MailServer, { field: 'test_due_at', now, leaseMs });
}
