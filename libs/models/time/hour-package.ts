// Hours that a client paid for in advance. Invoices draw time from them before they charge any.
import Big from 'big.js';
import { hoursQuantity, SECONDS_PER_HOUR } from '../../rules/time/time-rounding.ts';
import { type ClientDetails, embeddedClient } from '../accounts/client.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';
import { idField, requiredIdField, type StoredId } from '../tenant.ts';
import { embeddedProject, type ProjectDetails } from './project.ts';

/** The statuses follow from the account's day and the hours, and are never stored. */
export const PACKAGE_STATUSES = ['Upcoming', 'Active', 'Used', 'Expired'] as const;

export interface HourPackageRecord extends Stamped {
  client_id: StoredId;
  /** The only project whose time it covers. Null covers all. */
  project_id: StoredId | null;
  name: string | null;
  hours: number;
  /** hours × 3600, whole. */
  seconds: number;
  /** The seconds that invoices draw from it. Never more than `seconds`, see draw-hours.ts. */
  drawn_seconds: number;
  /** The price before tax in major units, for the account's own information. */
  amount: number | null;
  currency: string | null;
  /** The days of work that it covers, `YYYY-MM-DD`. Both belong to it, and null is unbounded. */
  valid_from: string | null;
  valid_until: string | null;
  /** True when the hours that are left after `valid_until` count on while a later package of the client is valid. */
  rollover: boolean;
  /** The number of hours from which on the package counts as low. Null means never. */
  low_hours: number | null;
  /** True after `hour_package.low` was announced, until a change by hand leaves more hours again. */
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

/**
 * Returns the package in the form of the API.
 * @param today the account's day.
 * @param hasSuccessor true when a later package for the same work is valid today.
 */
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

/** True when no more than the package's own threshold is left. */
export function isLow({
  low_hours,
  seconds,
  drawn_seconds,
}: Pick<HourPackageRecord, 'low_hours' | 'seconds' | 'drawn_seconds'>): boolean {
  return typeof low_hours === 'number' && seconds - drawn_seconds <= low_hours * SECONDS_PER_HOUR;
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
