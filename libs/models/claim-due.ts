// Leases the next due record of any account to one process, so that another process goes on when this one dies.
import { driverOf, type Owned, type Records } from './records.ts';

interface Claiming<Stored> {
  /** The field with the time from which the record is due. It has an index of its own. */
  field: keyof Stored & string;
  now: Date;
  leaseMs: number;
  /** Fields that change with the lease. */
  changes?: Partial<Stored>;
}

/** Leases the record that has been due for longest. @returns it with its lease, or undefined when none is due. */
export async function claimDue<Stored extends Owned>(
  records: Records<Stored>,
  { field, now, leaseMs, changes }: Claiming<Stored>,
): Promise<Stored | undefined> {
  const collection = driverOf(records);
  const lease = { ...changes, [field]: new Date(now.getTime() + leaseMs) };
  for (;;) {
    const due = await collection.findOne({ [field]: { $lte: now } } as object, {
      sort: { [field]: 1 },
      hint: { [field]: 1 },
      projection: { account_id: 1, [field]: 1 },
      // A majority read may show a lease that has just been given as due.
      readConcern: { level: 'local' },
    });
    if (!due) return undefined;
    // The write names the account, because a sharded cluster changes one record by its shard key only.
    const claimed = await collection.findOneAndUpdate(
      due as object,
      { $set: lease },
      { hint: { _id: 1 }, returnDocument: 'after' },
    );
    // Another process was quicker, and its lease leaves the next one.
    if (claimed) return claimed as unknown as Stored;
  }
}
