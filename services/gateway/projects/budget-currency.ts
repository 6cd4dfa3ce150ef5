// The currency of a project's budget: that of its rates when the budget is set.
import { currencyFor } from '#libs/billing/documents/client-terms.ts';
import { type AccountRecord, readAccount } from '#libs/models/accounts/account.ts';
import { Client, type ClientRecord } from '#libs/models/accounts/client.ts';
import { findOwn } from '#libs/models/records.ts';
import type { Id } from '#libs/models/tenant.ts';
import { type BudgetFields, hasBudget } from '#libs/models/time/budget.ts';
import type { ProjectRecord } from '#libs/models/time/project.ts';
import type { Session } from '#libs/mongo/connection.ts';

type Budget = BudgetFields & Pick<Partial<ProjectRecord>, 'currency'>;

/** Returns the currency of a new budget: the project's own, or that of the client or the account. */
export function budgetCurrencyOf(
  project: Budget,
  { client, account }: { client: Pick<ClientRecord, 'currency'>; account: AccountRecord },
): Pick<BudgetFields, 'budget_currency'> {
  if (!hasBudget(project)) return {};
  return { budget_currency: project.currency ?? currencyFor(client, account) };
}

/** Returns the currency again when the request sets a budget, or moves the project to another client. */
export async function changedBudgetCurrency(
  project: ProjectRecord,
  changes: Budget & { client_id?: Id | undefined },
  { accountId, session }: { accountId: Id; session: Session },
): Promise<Pick<BudgetFields, 'budget_currency'>> {
  const next = { ...project, ...changes };
  const isSet = (['budget_hours', 'budget_amount', 'client_id', 'currency'] as const).some(
    (name) => changes[name] !== undefined && String(changes[name]) !== String(project[name]),
  );
  if (!isSet || !hasBudget(next)) return {};
  const client = await findOwn(Client, accountId, changes.client_id ?? project.client_id, session);
  return budgetCurrencyOf(next, { client: client ?? {}, account: await readAccount(accountId, session) });
}
