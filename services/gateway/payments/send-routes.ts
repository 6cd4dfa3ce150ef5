// Sends receipts of payments by mail.
import { planMessage } from '#libs/billing/messages/plan-message.ts';
import { receiptLink } from '#libs/billing/messages/plan-receipt.ts';
import { allows } from '#libs/models/accounts/api-key.ts';
import { Payment } from '#libs/models/billing/payment.ts';
import { mailedLink } from '../fields/mailed-link.ts';
import { acceptedMessage, sendDocs } from '../fields/send-docs.ts';
import { type SendBody, sendBody, wantedMail } from '../fields/send-input.ts';
import { ALWAYS, type Context, type Route, route } from '../http/route.ts';

export const receiptSendRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/v1/payments/{id}/send',
    operation: 'sendReceipt',
    scope: 'messages:write',
    alsoNeeds: { 'payments:read': ALWAYS, 'invoices:read': '`include_link` is true' },
    body: sendBody('receipt'),
    missing: 'Payment not found or access denied',
    rechecksKey: true,
    docs: { ...sendDocs, title: 'Send a receipt', summary: 'Send the receipt of a payment by mail' },
    handler: sendReceipt,
  }),
];

async function sendReceipt({ caller, body, commit, requestId, requireRecord, requireScope }: Context<SendBody>) {
  if (body.include_link) requireScope('invoices:read');
  return commit(async (unit) => {
    const record = await requireRecord(Payment, unit.session);
    const wanted = wantedMail(body);
    // A key that may not read invoices sends receipts as before, without a link to one.
    const isLinked = body.include_link ?? allows(caller.scopes, 'invoices:read');
    const link = isLinked ? receiptLink(record, mailedLink('invoice', caller)) : undefined;
    return acceptedMessage(
      unit,
      await planMessage(unit, { kind: 'receipt', type: 'payment', record, wanted, link, requestId }),
    );
  });
}
