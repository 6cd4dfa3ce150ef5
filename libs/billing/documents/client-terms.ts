// The defaults of a client's new invoices.
import { addDays, dayIn } from '../../day.ts';
import { fieldProblem } from '../../errors.ts';
import { type AccountRecord, DEFAULT_PAYMENT_DAYS } from '../../models/accounts/account.ts';
import { Client, type ClientRecord } from '../../models/accounts/client.ts';
import { findOwn } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import type { EarlyPaymentDiscount } from '../../rules/money/early-payment.ts';
import { CURRENCY_STANDARD } from '../../rules/money/money.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** Returns the ISO 4217 currency of new documents: the client's, else the account's. */
export function currencyFor(client: Pick<ClientRecord, 'currency'>, account: Pick<AccountRecord, 'currency'>): string {
  return client.currency ?? account.currency ?? CURRENCY_STANDARD;
}

/** Returns the discounts of a new invoice: the given ones, else the client's, else the account's. Undefined when there are none. */
export function earlyPaymentFor(
  given: EarlyPaymentDiscount[] | null | undefined,
  client: Pick<ClientRecord, 'early_payment_discounts'>,
  account: { early_payment_discounts?: unknown },
): EarlyPaymentDiscount[] | undefined {
  const standard = client.early_payment_discounts ?? (account.early_payment_discounts as typeof given);
  const discounts = given === undefined ? standard : given;
  return discounts?.length ? discounts : undefined;
}

/** Returns the days from the issue of an invoice to its due date. */
export function paymentDays(
  client: Partial<Pick<ClientRecord, 'payment_days'>>,
  account: Pick<AccountRecord, 'payment_days'>,
): number {
  return client.payment_days ?? account.payment_days ?? DEFAULT_PAYMENT_DAYS;
}

/**
 * Returns the due date of an invoice that names none: the payment days of client or account after its issue date.
 * @throws AppError 400 when neither has any, also for an unknown client.
 */
export async function settledDueDate(
  { accountId, session }: Pick<UnitOfWork, 'accountId' | 'session'>,
  account: Pick<AccountRecord, 'payment_days' | 'time_zone'>,
  { client_id, issue_date }: { client_id: Id; issue_date?: string | null | undefined },
): Promise<string> {
  const client = await findOwn(Client, accountId, client_id, session);
  const days = client?.payment_days ?? account.payment_days;
  if (typeof days !== 'number') throw fieldProblem('due_date', 'required');
  return addDays(issue_date ?? dayIn(account.time_zone), days);
}
