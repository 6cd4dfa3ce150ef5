// Takes the next mail server whose test is due, of any account.
import { agreedDate } from '#libs/clock.ts';
import { MailServer, type MailServerRecord } from '#libs/models/messages/mail-server.ts';
import { acrossAccounts } from '#libs/models/tenant.ts';

/** Returns a server that no other process tests until the lease ends, or undefined when no test is due. */
export async function acquireTest(leaseMs: number, now: Date = agreedDate()): Promise<MailServerRecord | undefined> {
  const found = await MailServer.findOneAndUpdate(
    { test_due_at: { $lte: now } },
    { $set: { test_due_at: new Date(now.getTime() + leaseMs) } },
  )
    .setOptions(acrossAccounts)
    .sort({ test_due_at: 1 })
    .lean<MailServerRecord>();
  return found ?? undefined;
}
