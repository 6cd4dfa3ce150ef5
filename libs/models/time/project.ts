// A piece of work for a client.
import mongoose from 'mongoose';
import type { Session } from '../../mongo/connection.ts';
import { fromMinor } from '../../rules/money/money.ts';
import type { MemberRate } from '../../rules/time/hourly-rate.ts';
import type { TimeRounding } from '../../rules/time/time-rounding.ts';
import { type AccountRecord, DEFAULT_PROJECT_STATUSES } from '../accounts/account.ts';
import { type ClientDetails, embeddedClient } from '../accounts/client.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { driverOf, findAllOwn, recordsOf, type Stamped } from '../records.ts';
import { type StatusFilter, withStatuses } from '../status-filter.ts';
import { type Id, requiredIdField, type StoredId } from '../tenant.ts';
import { type BudgetFields, projectBudgetView } from './budget.ts';

/** How the work on a project is paid: by the hour, by a fixed amount that covers its time, or not at all. */
export const PROJECT_BILLINGS = ['hourly', 'fixed', 'none'] as const;

export type ProjectBilling = (typeof PROJECT_BILLINGS)[number];

export interface ProjectRecord extends Stamped, BudgetFields {
  client_id: StoredId;
  name: string;
  /** The status, which was one of the account's own when it was set. */
  status: string;
  hourly_rate?: number | null;
  member_rates?: MemberRate[] | null;
  rounding?: TimeRounding | null;
  /** Absent when the project is paid by the hour. */
  billing?: ProjectBilling | undefined;
  /** The price before tax in the smallest unit of `currency`. It counts while `billing` is `fixed`. */
  fixed_amount?: number | null;
  currency?: string | null;
  /** The part of the fixed amount that invoices bill. It is never more than the amount, see fixed-amount.ts. */
  fixed_billed?: number;
  /** See lockOwn. */
  lock_version?: number;
}

export const projectListing: ListingOf<ProjectRecord, 'created_at' | 'updated_at'> = {
  filters: ['client_id', 'status'],
  orders: { created_at: '_id', updated_at: 'updated_at' },
  standard: '-created_at',
};

const projectSchema = recordSchema<ProjectRecord>(
  'projects',
  {
    client_id: requiredIdField,
    name: { type: String, required: true },
    status: { type: String, required: true },
    hourly_rate: Number,
    member_rates: Object,
    rounding: Object,
    billing: { type: String, enum: PROJECT_BILLINGS },
    fixed_amount: Number,
    currency: String,
    fixed_billed: Number,
    budget_hours: Number,
    budget_amount: Number,
    budget_currency: String,
    total_seconds: Number,
    total_worth: mongoose.Schema.Types.Decimal128,
    hours_reached: Number,
    amount_reached: Number,
    lock_version: Number,
  },
  projectListing,
);

// Along this index projects with a fixed amount are found, and those that are not paid at all.
projectSchema.index({ account_id: 1, billing: 1 }, { partialFilterExpression: { billing: { $exists: true } } });

export const Project = recordsOf<ProjectRecord>('Project', projectSchema, {
  // An account may have any number of own statuses in the course of time, so they share one count.
  keyOf: ({ status }) => (isDefaultStatus(status) ? status : 'other'),
  groups: { status: { $cond: [{ $in: ['$status', [...DEFAULT_PROJECT_STATUSES]] }, '$status', 'other'] } },
  index: { account_id: 1, status: 1, _id: 1 },
});

function isDefaultStatus(status: string): boolean {
  return (DEFAULT_PROJECT_STATUSES as readonly string[]).includes(status);
}

/** Returns the filter of projects with any of these statuses. */
export function projectsWithStatus(statuses: readonly string[]): StatusFilter {
  const { kept, ...filter } = withStatuses(statuses);
  return kept && statuses.every(isDefaultStatus) ? { ...filter, kept } : filter;
}

/**
 * Returns the statuses that a project of the account may have. A new one has the first, unless `In Progress` is among
 * them.
 */
export function projectStatuses(account: Pick<AccountRecord, 'project_statuses'>): readonly string[] {
  const own = account.project_statuses;
  return own && own.length > 0 ? own : DEFAULT_PROJECT_STATUSES;
}

/** Returns the project in the form of the API. */
export function projectView(project: ProjectRecord, client: ClientDetails | undefined) {
  return {
    id: String(project._id),
    name: project.name,
    status: project.status,
    client: client ? embeddedClient(client) : null,
    hourly_rate: project.hourly_rate ?? null,
    member_rates: project.member_rates ?? null,
    rounding: project.rounding ?? null,
    billing: project.billing ?? 'hourly',
    ...fixedAmountView(project),
    budget_hours: project.budget_hours ?? null,
    budget_amount: project.budget_amount ?? null,
    budget: projectBudgetView(project),
    created_at: project.created_at.toISOString(),
    updated_at: project.updated_at.toISOString(),
  };
}

/** Returns the fixed amount of a project in the form of the API, in major units. */
function fixedAmountView(project: Pick<ProjectRecord, 'fixed_amount' | 'currency' | 'fixed_billed'>) {
  const { fixed_amount, currency } = project;
  if (!currency || fixed_amount === null || fixed_amount === undefined) {
    return { currency: currency ?? null, fixed_amount: null, fixed_billed: null, left_to_bill: null };
  }
  return {
    currency,
    fixed_amount: fromMinor(fixed_amount, currency),
    fixed_billed: fromMinor(project.fixed_billed ?? 0, currency),
    left_to_bill: fromMinor(leftOfFixedAmount(project), currency),
  };
}

/** Returns the part of the fixed amount that no invoice bills yet, in the smallest unit. */
export function leftOfFixedAmount({
  fixed_amount,
  fixed_billed,
}: Pick<ProjectRecord, 'fixed_amount' | 'fixed_billed'>) {
  return (fixed_amount ?? 0) - (fixed_billed ?? 0);
}

export type ProjectDetails = Pick<ProjectRecord, '_id' | 'name'>;

/** Returns the form in which tasks, time entries, quotes and invoices embed the project. */
export function embeddedProject(project: ProjectDetails): { id: Id; name: string } {
  return { id: String(project._id), name: project.name };
}

/** Returns the projects that records refer to, by id, with the fields that are embedded. */
export function projectsOf(
  accountId: Id,
  ids: readonly (StoredId | null | undefined)[],
  session?: Session,
): Promise<Map<Id, ProjectRecord>> {
  return findAllOwn(Project, accountId, ids.filter((id) => id != null).map(String), ['name'], session);
}

/** The worth of no time, exactly. */
export const NO_WORTH = mongoose.mongo.Decimal128.fromString('0');

/**
 * Adds to the totals of the project (or subtracts), in the transaction of its time.
 * @param worth in seconds × rate.
 * @returns the changed project, or null when it does not exist.
 */
export async function addProjectTime(
  session: Session,
  { _id, account_id }: Pick<ProjectRecord, '_id' | 'account_id'>,
  { seconds, worth }: { seconds: number; worth: string },
): Promise<ProjectRecord | null> {
  const total_worth = mongoose.mongo.Decimal128.fromString(worth);
  const project = await driverOf(Project).findOneAndUpdate(
    { _id, account_id },
    { $inc: { total_seconds: seconds, total_worth } as never },
    { session, returnDocument: 'after' },
  );
  return project as ProjectRecord | null;
}
