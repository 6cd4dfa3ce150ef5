// The hours behind a line of an issued invoice, as they were at its issue. The record stays when the entries are
// released.
import { Schema } from 'mongoose';
import { RATE_SOURCES, type RateSource } from '../../rules/time/hourly-rate.ts';
import type { TimeRounding } from '../../rules/time/time-rounding.ts';
import { recordsOf } from '../records.ts';
import { type Id, idField, newId, requiredIdField, type StoredId, tenant } from '../tenant.ts';

/** The most entries of one record. Their texts may have 80 kB each, and a record of MongoDB 16 MiB. */
export const ISSUED_ENTRIES_MAX = 100;

export interface IssuedEntry {
  id: Id;
  date: string;
  seconds: number;
  /** The decimals of the hours as they were given. Absent when they are exact. */
  decimals?: number | undefined;
  description: string | null;
  /** Absent in records of an older version. */
  member?: string | null | undefined;
  project: { id: Id; name: string };
  task: { id: Id; name: string } | null;
  /** Absent when no rate was set anywhere. */
  rate_from?: RateSource | undefined;
}

export interface IssuedTimeRecord {
  _id: StoredId;
  account_id: StoredId;
  invoice_id: StoredId;
  /** The id of the line in the invoice's `time`. */
  line: number;
  /** A number from 0. A line of many entries has several records. */
  part: number;
  /** True when the lines of the invoice were edited by hand. */
  is_edited: boolean;
  /** Its place among the line items. Null once these were edited by hand. */
  at: number | null;
  description: string;
  rate: string;
  rounding: TimeRounding | null;
  /** The seconds that prepaid hours covered. */
  prepaid: number;
  entries: IssuedEntry[];
}

const issuedTimeSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    account_id: requiredIdField,
    invoice_id: requiredIdField,
    line: { type: Number, required: true },
    part: { type: Number, required: true },
    is_edited: { type: Boolean, required: true },
    at: Number,
    description: { type: String, required: true },
    rate: { type: String, required: true },
    rounding: Object,
    prepaid: { type: Number, required: true },
    entries: [
      {
        _id: false,
        id: String,
        date: String,
        seconds: Number,
        decimals: Number,
        description: String,
        member: String,
        project: Object,
        task: Object,
        rate_from: { type: String, enum: RATE_SOURCES },
      },
    ],
  },
  { versionKey: false, strict: 'throw', collection: 'issued_time' },
);
issuedTimeSchema.plugin(tenant);
// An invoice is issued once.
issuedTimeSchema.index({ account_id: 1, invoice_id: 1, line: 1, part: 1 }, { unique: true });

export const IssuedTime = recordsOf<IssuedTimeRecord>('IssuedTime', issuedTimeSchema);
