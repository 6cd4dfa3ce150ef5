// Tells if the time of an invoice is more than one page should read.
import type { InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { IssuedTime } from '#libs/models/billing/issued-time.ts';
import { driverOf } from '#libs/models/records.ts';

/** Descriptions of entries may have 16 MiB together. Beyond this size they are left out. */
const BYTES_MAX = 2 * 2 ** 20;

/** True when the stored time of the invoice has more bytes than a page should read. */
export async function isTimeLarge({ _id, account_id }: InvoiceRecord): Promise<boolean> {
  const [sum] = await driverOf(IssuedTime)
    .aggregate<{ bytes: number }>([
      { $match: { account_id, invoice_id: _id } },
      { $group: { _id: null, bytes: { $sum: { $bsonSize: '$$ROOT' } } } },
    ])
    .toArray();
  return (sum?.bytes ?? 0) > BYTES_MAX;
}
