// The defaults of a client's new invoices.
import { type AccountRecord, DEFAULT_PAYMENT_DAYS } from '../../models/accounts/account.ts';
import type { ClientRecord } from '../../models/accounts/client.ts';
import { CURRENCY_STANDARD } from '../../rules/money/money.ts';

/** Returns the ISO 4217 currency of new documents: the client's, else the account's. */
export function currencyFor(client: Pick<ClientRecord, 'currency'>, account: Pick<AccountRecord, 'currency'>): string {
  return client.currency ?? account.currency ?? CURRENCY_STANDARD;
}

/** Returns the days from the issue of an invoice to its due date. */
export function paymentDays(
  client: Partial<Pick<ClientRecord, 'payment_days'>>,
  account: Pick<AccountRecord, 'payment_days'>,
): number {
  return client.payment_days ?? account.payment_days ?? DEFAULT_PAYMENT_DAYS;
}
