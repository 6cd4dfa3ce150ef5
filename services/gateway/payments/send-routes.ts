// Sends receipts of payments by mail.
import { planMessage } from '#libs/billing/messages/plan-message.ts';
import { Payment } from '#libs/models/billing/payment.ts';
import { acceptedMessage, sendDocs } from '../fields/send-docs.ts';
import { type SendBody, sendBody, wantedMail } from '../fields/send-input.ts';
import { ALWAYS, type Context, type Route, route } from '../http/route.ts';

export const receiptSendRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/v1/payments/{id}/send',
    operation: 'sendReceipt',
    scope: 'messages:write',
    alsoNeeds: { 'payments:read': ALWAYS },
    body: sendBody('receipt'),
    missing: 'Payment not found or access denied',
    rechecksKey: true,
    docs: { ...sendDocs, title: 'Send a receipt', summary: 'Send the receipt of a payment by mail' },
    handler: sendReceipt,
  }),
];

async function sendReceipt({ body, commit, requestId, requireRecord }: Context<SendBody>) {
  return commit(async (unit) => {
    const record = await requireRecord(Payment, unit.session);
    const wanted = wantedMail(body);
    return acceptedMessage(
      unit,
      await planMessage(unit, { kind: 'receipt', type: 'payment', record, wanted, requestId }),
    );
  });
}
