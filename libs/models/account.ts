// A workspace: the owner of keys and records, and the issuer its documents are printed from.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { unauthorized } from '../errors.ts';
import type { Session } from '../mongo.ts';
import { type Id, idField, newId } from './tenant.ts';

/** Used where an account has not set its own. */
export const DEFAULT_PROJECT_STATUSES = ['In Progress', 'Awaiting Approval', 'Complete'] as const;

const accountSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    name: { type: String, required: true },
    email: String,
    company: String,
    address: String,
    tax_id: String,
    bank_details: String,
    logo_url: String,
    brand_color: String,
    default_tax_rate: Number,
    /** IANA name: decides on which calendar day an invoice becomes overdue. */
    time_zone: { type: String, required: true, default: 'UTC' },
    /** BCP 47: the language and number format of printed documents. */
    locale: { type: String, required: true, default: 'en-US' },
    project_statuses: { type: [String], default: undefined },
    created_at: { type: Date, required: true, default: () => new Date() },
    updated_at: { type: Date, required: true, default: () => new Date() },
  },
  { versionKey: false, strict: 'throw', collection: 'accounts' },
);

export type AccountRecord = InferSchemaType<typeof accountSchema>;

export const Account = model('Account', accountSchema);

/**
 * The account as it is now: what is computed from it or frozen into a document must not come from a remembered profile.
 * @throws AppError 401 when it is gone, as the next request with its key will be told.
 */
export async function readAccount(id: Id, session?: Session): Promise<AccountRecord> {
  const account = await Account.findById(id)
    .session(session ?? null)
    .lean<AccountRecord>();
  if (!account) throw unauthorized();
  return account;
}

/** The account as the API returns it. */
export function accountView(account: AccountRecord) {
  return {
    id: String(account._id),
    name: account.name,
    email: account.email ?? null,
    company: account.company ?? null,
    address: account.address ?? null,
    tax_id: account.tax_id ?? null,
    bank_details: account.bank_details ?? null,
    logo_url: account.logo_url ?? null,
    brand_color: account.brand_color ?? null,
    default_tax_rate: account.default_tax_rate ?? null,
    time_zone: account.time_zone,
    locale: account.locale,
    project_statuses: account.project_statuses ?? [...DEFAULT_PROJECT_STATUSES],
    created_at: account.created_at.toISOString(),
    updated_at: account.updated_at.toISOString(),
  };
}
