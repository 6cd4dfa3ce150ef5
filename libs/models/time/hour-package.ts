// Hours that a client paid for in advance: time is drawn from them before any of it is charged.
import Big from 'big.js';
import { hoursQuantity } from '../../rules/time/time-rounding.ts';
import { type ClientDetails, embeddedClient } from '../accounts/client.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';
import { idField, requiredIdField, type StoredId } from '../tenant.ts';
import { embeddedProject, type ProjectDetails } from './project.ts';

/** Follows from the account's day and the hours, never stored. */
export const PACKAGE_STATUSES = ['Upcoming', 'Active', 'Used', 'Expired'] as const;

export interface HourPackageRecord extends Stamped {
  client_id: StoredId;
  /** It is for time of this project alone. */
  project_id: StoredId | null;
  name: string | null;
  hours: number;
  /** hours × 3600, whole. */
  seconds: number;
  /** What invoices draw from it. Never more than `seconds`, see draw-hours.ts. */
  drawn_seconds: number;
  /** What it costs, before tax: for the account's own knowledge, in major units. */
  amount: number | null;
  currency: string | null;
  /** `YYYY-MM-DD`: the days of work that it is for; both belong to it. Null is unbounded. */
  valid_from: string | null;
  valid_until: string | null;
  /** What is left after `valid_until` goes on counting while a later package of the client is valid. */
  rollover: boolean;
  /** Little is left when no more than these hours are; null says nothing about it. */
  low_hours: number | null;
  /** `hour_package.low` was announced; until more is left again because of a change by hand. */
  is_low?: boolean | undefined;
}

export const hourPackageListing: ListingOf<HourPackageRecord, 'created_at' | 'updated_at' | 'valid_until'> = {
  filters: ['client_id', 'project_id'],
  orders: { created_at: '_id', updated_at: 'updated_at', valid_until: 'valid_until' },
  standard: '-created_at',
};

const packageSchema = recordSchema<HourPackageRecord>(
  'hour_packages',
  {
    client_id: requiredIdField,
    project_id: idField,
    name: String,
    hours: { type: Number, required: true },
    seconds: { type: Number, required: true },
    drawn_seconds: { type: Number, required: true },
    amount: Number,
    currency: String,
    valid_from: String,
    valid_until: String,
    rollover: { type: Boolean, required: true },
    low_hours: Number,
    is_low: Boolean,
  },
  hourPackageListing,
);

export const HourPackage = recordsOf<HourPackageRecord>('HourPackage', packageSchema);

/** Decimals of the price of an hour. */
const RATE_DECIMALS = 4;

/** The package as the API returns it. @param today the account's day. @param hasSuccessor a package for the same work is valid today. */
export function hourPackageView(
  record: HourPackageRecord,
  {
    client,
    project,
    today,
    hasSuccessor,
  }: {
    client: ClientDetails | undefined;
    project: ProjectDetails | undefined;
    today: string;
    hasSuccessor: boolean;
  },
) {
  const { amount, hours, seconds, drawn_seconds } = record;
  return {
    id: String(record._id),
    name: record.name,
    client: client ? embeddedClient(client) : null,
    project: project ? embeddedProject(project) : null,
    hours,
    used_hours: Number(hoursQuantity(drawn_seconds)),
    left_hours: Number(hoursQuantity(seconds - drawn_seconds)),
    amount,
    currency: record.currency,
    rate: amount === null ? null : new Big(amount).div(hours).round(RATE_DECIMALS, Big.roundHalfUp).toNumber(),
    valid_from: record.valid_from,
    valid_until: record.valid_until,
    rollover: record.rollover,
    low_hours: record.low_hours ?? null,
    status: packageStatus(record, today, hasSuccessor),
    created_at: record.created_at.toISOString(),
    updated_at: record.updated_at.toISOString(),
  };
}

/** True when no more is left than the package's own threshold. */
export function isLow({
  low_hours,
  seconds,
  drawn_seconds,
}: Pick<HourPackageRecord, 'low_hours' | 'seconds' | 'drawn_seconds'>): boolean {
  return typeof low_hours === 'number' && seconds - drawn_seconds <= low_hours * 3600;
}

function packageStatus(
  { valid_from, valid_until, seconds, drawn_seconds, rollover }: HourPackageRecord,
  today: string,
  hasSuccessor: boolean,
): (typeof PACKAGE_STATUSES)[number] {
  if (drawn_seconds >= seconds) return 'Used';
  if (valid_from !== null && today < valid_from) return 'Upcoming';
  const isOver = valid_until !== null && today > valid_until;
  return isOver && !(rollover && hasSuccessor) ? 'Expired' : 'Active';
}
