// The hours that a line of an invoice draws from an hour package. The record is removed when the invoice gives the
// hours back.
import { hoursQuantity } from '../../rules/time/time-rounding.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';
import { requiredIdField, type StoredId } from '../tenant.ts';

export interface HourDrawdownRecord extends Stamped {
  package_id: StoredId;
  invoice_id: StoredId;
  /** The number as it is printed. */
  invoice_number: string;
  /** The id of the line in the invoice's `time`. */
  line: number;
  seconds: number;
}

export const hourDrawdownListing: ListingOf<HourDrawdownRecord, 'created_at' | 'updated_at'> = {
  filters: ['package_id'],
  orders: { created_at: '_id', updated_at: 'updated_at' },
  standard: '-created_at',
};

const drawdownSchema = recordSchema<HourDrawdownRecord>(
  'hour_drawdowns',
  {
    package_id: requiredIdField,
    invoice_id: requiredIdField,
    invoice_number: { type: String, required: true },
    line: { type: Number, required: true },
    seconds: { type: Number, required: true },
  },
  hourDrawdownListing,
);
// A line draws from a package once.
drawdownSchema.index({ account_id: 1, invoice_id: 1, line: 1, package_id: 1 }, { unique: true });

export const HourDrawdown = recordsOf<HourDrawdownRecord>('HourDrawdown', drawdownSchema);

/** Returns the drawdown in the form of the API. */
export function hourDrawdownView(record: HourDrawdownRecord) {
  return {
    id: String(record._id),
    invoice: { id: String(record.invoice_id), invoice_number: record.invoice_number },
    hours: Number(hoursQuantity(record.seconds)),
    created_at: record.created_at.toISOString(),
  };
}
