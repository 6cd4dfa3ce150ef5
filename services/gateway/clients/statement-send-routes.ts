// Sends the statement of account of a client by mail.
import Joi from 'joi';
import { planMessage } from '#libs/billing/messages/plan-message.ts';
import { clientStatements } from '#libs/billing/payments/client-statement.ts';
import type { StatementPeriod } from '#libs/billing/payments/statement.ts';
import { STANDARD_LOOKS } from '#libs/documents/looks.ts';
import { closingBalances, statementDocument } from '#libs/documents/statement-document.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { Client, type ClientRecord } from '#libs/models/accounts/client.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { requireBoundedWork } from '#libs/rules/documents/layout-work.ts';
import { LINK_READS, mailedLink } from '../fields/mailed-link.ts';
import { periodFields } from '../fields/period-input.ts';
import { acceptedMessage, sendDocs } from '../fields/send-docs.ts';
import { type SendBody, sendBody, wantedMail } from '../fields/send-input.ts';
import { ALWAYS, type Context, type Route, route } from '../http/route.ts';

type StatementBody = SendBody & { period: StatementPeriod };

const body = (sendBody('statement') as Joi.ObjectSchema<StatementBody>)
  .keys({
    period: Joi.object<StatementPeriod>(periodFields)
      .required()
      .meta({ schema: 'StatementPeriodInput' })
      .description('The days of the statement. It shows what is booked when the mail is made'),
  })
  .example(
    {
      period: { from: '2026-11-01', to: '2026-11-21' },
      message: 'Hello {client_name},\n\nyour statement is attached.',
    },
    { override: true },
  );

export const statementSendRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/v1/clients/{id}/statements/send',
    operation: 'sendStatement',
    isLarge: true,
    scope: 'messages:write',
    alsoNeeds: {
      'invoices:read': ALWAYS,
      'payments:read': ALWAYS,
      'credit-notes:read': ALWAYS,
      'clients:read': '`include_link` is true',
      'quotes:read': '`include_link` is true',
    },
    body,
    missing: 'Client not found or access denied',
    rechecksKey: true,
    docs: {
      ...sendDocs,
      title: 'Send a statement of account',
      summary: 'Send the statement of account of a client by mail',
      description:
        'Responds as soon as the message is stored; the mail service sends it, with the statement as it is when the mail is made: that of ' +
        '`GET /reports/statement/pdf` in the standard look, printed once for all attempts. `document` of the message has the id of the client.',
    },
    handler: sendStatement,
  }),
];

async function sendStatement(context: Context<StatementBody>) {
  const { caller, body: given, commit, requestId, requireRecord, requireScope } = context;
  const { period, include_link, ...mail } = given;
  if (include_link) for (const scope of LINK_READS.client) requireScope(scope);
  const link = include_link ? { ...mailedLink('client', caller), show_statement: true as const } : undefined;
  return commit(
    async (unit, balances) => {
      const { _id } = await requireRecord(Client, unit.session);
      const record = { _id, client_id: _id, period, balances };
      const wanted = wantedMail(mail);
      return acceptedMessage(
        unit,
        await planMessage(unit, { kind: 'statement', type: 'statement', record, wanted, link, requestId }),
      );
    },
    // The movements are read before the transaction: thousands of them would make it too long.
    async () => {
      const { accountId } = caller;
      const client: ClientRecord = await readAfterElection(() => requireRecord(Client));
      const account = await readAccount(accountId);
      const statements = await clientStatements(accountId, client._id, { period, timeZone: account.time_zone });
      const content = { client, period, statements };
      if (mail.attach_pdf ?? true) requireBoundedWork(statementDocument(content, account, STANDARD_LOOKS));
      return closingBalances(content, account);
    },
  );
}
