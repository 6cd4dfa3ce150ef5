// Takes the next mail server whose test is due, of any account.
import { agreedDate } from '#libs/clock.ts';
import { MailServer, type MailServerRecord } from '#libs/models/messages/mail-server.ts';
import { acrossAccounts } from '#libs/models/tenant.ts';

/** Returns a server that no other process tests until the lease ends, or undefined when no test is due. */
export async function acquireTest(leaseMs: number, now: Date = agreedDate()): Promise<MailServerRecord | undefined> {
  for (;;) {
    const due = await MailServer.findOne({ test_due_at: { $lte: now } })
      .setOptions(acrossAccounts)
      .sort({ test_due_at: 1 })
      .select({ account_id: 1, test_due_at: 1 })
      // A majority read may show a test that has just been leased as due.
      .readConcern('local')
      .lean<Required<Pick<MailServerRecord, '_id' | 'account_id' | 'test_due_at'>>>();
    if (!due) return undefined;
    // The write names the account, because a sharded cluster changes one record by its shard key only.
    const { _id, account_id, test_due_at } = due;
    const acquired = await MailServer.findOneAndUpdate(
      { _id, account_id, test_due_at },
      { $set: { test_due_at: new Date(now.getTime() + leaseMs) } },
    ).lean<MailServerRecord>();
    // Another process was quicker, and its lease leaves the next one.
    if (acquired) return acquired;
  }
}
