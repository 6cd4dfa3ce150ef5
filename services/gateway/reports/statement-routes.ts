// The statement of account of a client over HTTP, as JSON, as CSV or as PDF.
import { mapValues } from 'es-toolkit/object/mapValues';
import { clientStatements } from '#libs/billing/payments/client-statement.ts';
import { type CurrencyStatement, statementName } from '#libs/billing/payments/statement.ts';
import type { DocumentLooks } from '#libs/documents/looks.ts';
import { type StatementContent, statementDocument } from '#libs/documents/statement-document.ts';
import { appError } from '#libs/errors.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { Client, type ClientRecord, embeddedClient } from '#libs/models/accounts/client.ts';
import { findOwn } from '#libs/models/records.ts';
import { fromMinor } from '#libs/rules/money/money.ts';
import { found } from '../http/response.ts';
import { ALWAYS, type Context, type Route, route } from '../http/route.ts';
import { respondWithDocument } from '../printing/respond-with-document.ts';
import { sendCsv, wantsCsv } from './csv.ts';
import { printedStatementQuery, type StatementQuery, statementQuery } from './statement-input.ts';
import { statementResponse } from './statement-response.ts';

export const statementRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/v1/reports/statement',
    operation: 'getStatement',
    isLarge: true,
    scope: 'payments:read',
    alsoNeeds: { 'invoices:read': ALWAYS, 'credit-notes:read': ALWAYS },
    query: statementQuery,
    alsoWrites: 'text/csv',
    docs: {
      title: 'Get a statement of account',
      summary: 'Get what a client owed, every movement of a period and what it owes at the end, for each currency',
      description:
        'Movements count on their own days, whenever they were booked, and due dates are those of today. The balances are those of ' +
        '`GET /clients/{id}/balance?as_of=`: what is due less the credit. Moving money between invoices and credit changes no balance and is no row. ' +
        'With `Accept: text/csv` the response is a file with the same rows, and a first and a last row for each currency with its opening and its closing balance.',
      response: statementResponse,
      missingReference: 'Client not found or access denied',
    },
    handler: getStatement,
  }),
  route({
    method: 'get',
    path: '/api/v1/reports/statement/pdf',
    operation: 'printStatement',
    isLarge: true,
    scope: 'payments:read',
    alsoNeeds: { 'invoices:read': ALWAYS, 'credit-notes:read': ALWAYS },
    query: printedStatementQuery,
    produces: 'application/pdf',
    docs: {
      title: 'Get a statement as PDF',
      summary: 'Get the statement of account of a client as PDF',
      description:
        'The balances and movements of `GET /reports/statement`, with issuer and client as they are now, in the language and with the logo of the account. ' +
        'Each currency has a table of its own, and its balance by age. The same content gives the same bytes, so `If-None-Match` gets 304 without printing.',
      missingReference: 'Client not found or access denied',
    },
    handler: printStatement,
  }),
];

async function getStatement(context: Context<unknown, StatementQuery>) {
  const { from, to } = context.query;
  const { client, period, statements } = await statementOf(context);
  const shown = statements.map(statementView);
  if (wantsCsv(context)) return sendCsv(context, statementName(period), tableOf(shown, period));
  return found({ client: embeddedClient(client), from, to, statements: shown });
}

async function printStatement(context: Context<unknown, StatementQuery & DocumentLooks>) {
  const { client_id: _client, from: _from, to: _to, currency: _currency, ...looks } = context.query;
  // The profile is read past the cache, so that a change through another gateway is printed at once.
  const [content, account] = await Promise.all([statementOf(context), readAccount(context.caller.accountId)]);
  return respondWithDocument(context, statementDocument(content, account, looks));
}

/** @throws AppError 404 for a client that is unknown or another account's. */
async function statementOf({ caller, query }: Context<unknown, StatementQuery>): Promise<StatementContent> {
  const { from, to, currency } = query;
  const client: ClientRecord | null = await findOwn(Client, caller.accountId, query.client_id);
  if (!client) throw appError('client_not_found');
  const period = { from, to };
  const { time_zone: timeZone } = caller.account;
  const statements = await clientStatements(caller.accountId, client._id, { period, timeZone });
  return {
    client,
    period,
    statements: statements.filter((one) => currency === undefined || one.currency === currency),
  };
}

type StatementView = ReturnType<typeof statementView>;

function statementView({ currency, opening, debits, credits, closing, rows, ...at }: CurrencyStatement) {
  const major = (amount: number) => fromMinor(amount, currency);
  return {
    currency,
    opening_balance: major(opening),
    debits: major(debits),
    credits: major(credits),
    closing_balance: major(closing),
    due: major(at.due),
    overdue: major(at.overdue),
    ageing: mapValues(at.ageing, major),
    credit: major(at.credit),
    rows: rows.map(({ date, kind, document, text, amount, balance }) => ({
      date,
      kind,
      document,
      text: text ?? null,
      debit: major(Math.max(0, amount)),
      credit: major(Math.max(0, -amount)),
      balance: major(balance),
    })),
  };
}

const COLUMNS = [
  'currency',
  'date',
  'kind',
  'document_type',
  'document_number',
  'document_id',
  'text',
  'debit',
  'credit',
  'balance',
] as const;

/** Returns the table of the file. Of each currency, the first balance and the rows give the last balance. */
function tableOf(statements: readonly StatementView[], { from, to }: StatementContent['period']) {
  const no = { document_type: null, document_number: null, document_id: null, text: null, debit: null, credit: null };
  const rows = statements.flatMap(({ currency, opening_balance, closing_balance, rows: moved }) => [
    { ...no, currency, date: from, kind: 'opening_balance', balance: opening_balance },
    ...moved.map(({ document: { type, number, id }, ...row }) => {
      return { ...row, currency, document_type: type, document_number: number, document_id: id };
    }),
    { ...no, currency, date: to, kind: 'closing_balance', balance: closing_balance },
  ]);
  return { columns: COLUMNS, rows };
}
