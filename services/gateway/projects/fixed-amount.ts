// How a project is billed, as it is stored: a fixed amount is exact in its currency, and what was billed of it stays billed.

import { currencyFor } from '#libs/billing/documents/client-terms.ts';
import { appError, fieldProblem } from '#libs/errors.ts';
import { type AccountRecord, readAccount } from '#libs/models/accounts/account.ts';
import { Client, type ClientRecord } from '#libs/models/accounts/client.ts';
import { changedFields, findOwn, hasOwn } from '#libs/models/records.ts';
import type { Id, StoredId } from '#libs/models/tenant.ts';
import type { ProjectBilling, ProjectRecord } from '#libs/models/time/project.ts';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { writtenAmount } from '#libs/rules/money/balance.ts';
import { exactMinor } from '#libs/rules/money/exact-amount.ts';
import { fromMinor } from '#libs/rules/money/money.ts';
import type { NewProject } from './input.ts';

type Given = { [Name in 'billing' | 'fixed_amount' | 'currency']?: NewProject[Name] | undefined };
type Stored = Pick<ProjectRecord, 'billing' | 'fixed_amount' | 'currency'>;

/** Returns the fixed amount of a new project. @throws AppError 400 when a fixed amount is missing, or has more decimals than its currency. */
export function fixedAmountOf(
  given: Given,
  { client, account }: { client: Pick<ClientRecord, 'currency'>; account: AccountRecord },
): Stored {
  const amount = given.fixed_amount ?? null;
  const currency = given.currency ?? (amount === null ? null : currencyFor(client, account));
  const fixed = { billing: storedBilling(given.billing), fixed_amount: minorOf(amount, currency), currency };
  requireFixedAmount(fixed);
  return fixed;
}

/**
 * @param clientId of the client that the project will have.
 * @throws AppError as fixedAmountOf, 409 when invoices bill more of the fixed amount than it would be, or in another currency.
 */
export async function changedFixedAmount(
  project: ProjectRecord,
  given: Given,
  { accountId, clientId, session }: { accountId: Id; clientId: Id | StoredId; session: Session },
): Promise<Stored> {
  if (Object.values(given).every((value) => value === undefined)) return {};
  const before = project.currency ?? null;
  const stored = project.fixed_amount ?? null;
  const kept = stored === null || !before ? null : fromMinor(stored, before);
  const amount = given.fixed_amount === undefined ? kept : given.fixed_amount;
  let currency = given.currency === undefined ? before : given.currency;
  if (!currency && amount !== null) {
    const client = await findOwn(Client, accountId, clientId, session);
    currency = currencyFor(client ?? {}, await readAccount(accountId, session));
  }
  const next: Stored = {
    billing: given.billing === undefined ? project.billing : storedBilling(given.billing),
    fixed_amount: minorOf(amount, currency),
    currency,
  };
  requireFixedAmount(next);
  requireBilledKept(project, next);
  await requireNoBilledTime(project, next, { accountId, session });
  return next;
}

/** Returns undefined for `hourly`: the time of a project without a stored kind of billing is billed by the hour. */
function storedBilling(billing: ProjectBilling | null | undefined): ProjectBilling | undefined {
  return !billing || billing === 'hourly' ? undefined : billing;
}

function minorOf(amount: number | null, currency: string | null): number | null {
  return amount === null || !currency ? null : exactMinor(amount, currency, 'by-field', 'fixed_amount');
}

function requireFixedAmount({ billing, fixed_amount }: Stored): void {
  if (billing === 'fixed' && fixed_amount === null) throw fieldProblem('fixed_amount', 'required');
}

/** Checks that no time of the project is billed by the hour, because a fixed amount covers it. @throws AppError 409. */
async function requireNoBilledTime(
  { _id, billing }: ProjectRecord,
  next: Stored,
  { accountId, session }: { accountId: Id; session: Session },
): Promise<void> {
  if (next.billing !== 'fixed' || billing === 'fixed') return;
  if (await hasOwn(TimeEntry, accountId, { project_id: _id, invoice_id: { $ne: null } }, session)) {
    throw appError('project_time_billed');
  }
}

function requireBilledKept(project: ProjectRecord, next: Stored): void {
  const billed = project.fixed_billed ?? 0;
  if (billed === 0) return;
  const names = changedFields(project, next).filter((name) => name === 'billing' || name === 'currency');
  if (names.length > 0) throw appError('fixed_amount_fields_locked', { fields: names });
  if ((next.fixed_amount ?? 0) < billed) {
    throw appError('fixed_amount_below_billed', { billed: writtenAmount(billed, project.currency ?? '') });
  }
}
