// The statement of account of a client as the renderer prints it: every amount as the API returns it, nothing is computed anew.
import { sumBy } from 'es-toolkit/math/sumBy';
import { mapValues } from 'es-toolkit/object/mapValues';
import { type CurrencyStatement, type StatementPeriod, statementName } from '../billing/payments/statement.ts';
import { appError } from '../errors.ts';
import type { PrintableCurrencyStatement, PrintableDocument } from '../jobs/printable-document.ts';
import type { AccountRecord } from '../models/accounts/account.ts';
import type { ClientRecord } from '../models/accounts/client.ts';
import { CURRENCY_STANDARD, fromMinor } from '../rules/money/money.ts';
import { currentParties } from './find-document.ts';
import type { DocumentLooks } from './looks.ts';
import { looksOf, present } from './stored-document.ts';

/**
 * The most rows of all currencies that are printed. Chromium lays out so many in about three seconds, and has the memory for
 * the structure of so many in a file for screen readers.
 */
const PRINTED_ROWS_MAX = { plain: 3_000, accessible: 1_000 } as const;

export interface StatementContent {
  client: ClientRecord;
  period: StatementPeriod;
  statements: readonly CurrencyStatement[];
}

/** Returns the last balance of each currency, or nothing owed in the currency of the client. */
export function closingBalances(
  { client, statements }: Pick<StatementContent, 'client' | 'statements'>,
  account: Pick<AccountRecord, 'currency'>,
): Pick<CurrencyStatement, 'currency' | 'closing'>[] {
  if (statements.length === 0) return [{ currency: currencyOf(client, account), closing: 0 }];
  return statements.map(({ currency, closing }) => ({ currency, closing }));
}

function currencyOf(client: Pick<ClientRecord, 'currency'>, account: Pick<AccountRecord, 'currency'>): string {
  return client.currency ?? account.currency ?? CURRENCY_STANDARD;
}

/**
 * Returns the document, with account and client as they are now.
 * @throws AppError 422 when it has more rows than are printed.
 */
export function statementDocument(
  { client, period, statements }: StatementContent,
  account: AccountRecord,
  looks: DocumentLooks,
): PrintableDocument {
  const { from, to } = period;
  const limit = PRINTED_ROWS_MAX[looks.accessible ? 'accessible' : 'plain'];
  if (sumBy(statements, ({ rows }) => rows.length) > limit) throw appError('statement_too_long', { limit });
  const currency = statements[0]?.currency ?? currencyOf(client, account);
  const details = currentParties(account, client);
  return present({
    ...looksOf(to, currency, details, looks),
    title: 'Invoice',
    number: statementName(period),
    isQuote: false,
    subtotal: 0,
    taxRate: 0,
    taxAmount: 0,
    amount: 0,
    lineItems: [],
    buyerReference: details.parties.client.buyer_reference,
    statement: { from, to, statements: statements.map(printableStatement) },
  });
}

function printableStatement({ currency, rows, ageing, ...sums }: CurrencyStatement): PrintableCurrencyStatement {
  const major = (minor: number) => fromMinor(minor, currency);
  const { opening, debits, credits, closing, due, credit } = sums;
  return {
    currency,
    opening: major(opening),
    debits: major(debits),
    credits: major(credits),
    closing: major(closing),
    due: major(due),
    ageing: mapValues(ageing, major),
    credit: major(credit),
    rows: rows.map(({ date, kind, document, text, amount, balance }) => ({
      date,
      kind,
      number: document.number,
      ...(text === undefined ? {} : { text }),
      amount: major(amount),
      balance: major(balance),
    })),
  };
}
