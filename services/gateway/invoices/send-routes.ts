// Sends invoices by mail. A draft is issued in the same transaction.
import { planMessage } from '#libs/billing/messages/plan-message.ts';
import { remindByHand } from '#libs/billing/reminders/plan-reminder.ts';
import { appError } from '#libs/errors.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { mailedLink } from '../fields/mailed-link.ts';
import { acceptedMessage, sendDocs } from '../fields/send-docs.ts';
import { remindBody, type SendBody, sendBody, wantedMail } from '../fields/send-input.ts';
import { ALWAYS, type Context, type Route, route } from '../http/route.ts';
import { changeInvoice } from './update-invoice.ts';

export const invoiceSendRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/v1/invoices/{id}/send',
    operation: 'sendInvoice',
    isPrinted: true,
    scope: 'messages:write',
    alsoNeeds: {
      'invoices:read': ALWAYS,
      'invoices:write': 'the invoice is a draft',
      'time-entries:read': '`include_time` is true',
    },
    body: sendBody('invoice'),
    missing: 'Invoice not found or access denied',
    rechecksKey: true,
    docs: {
      ...sendDocs,
      title: 'Send an invoice',
      summary: 'Send an invoice by mail, and issue it if it is a draft',
      warns: true,
    },
    handler: sendInvoice,
  }),
  route({
    method: 'post',
    path: '/api/v1/invoices/{id}/remind',
    operation: 'remindInvoice',
    isPrinted: true,
    scope: 'messages:write',
    alsoNeeds: { 'invoices:read': ALWAYS, 'time-entries:read': '`include_time` is true' },
    body: remindBody,
    missing: 'Invoice not found or access denied',
    rechecksKey: true,
    docs: {
      ...sendDocs,
      title: 'Remind of an invoice',
      summary: 'Send a reminder of an invoice now, in the words of the step of reminders that it is at',
      description:
        'For an invoice of which something is due and whose due date has come. It may also go out while reminders are off or ' +
        'paused. If what is due changes before the mail leaves, the reminder is cancelled and sent anew with the present sum; ' +
        'if nothing is due any more, it is only cancelled. Steps that go out by themselves wait for 48 hours after it.',
      conflict: appError('invoice_not_due'),
    },
    handler: remindInvoice,
  }),
];

async function sendInvoice({ caller, body, commit, requestId, requireRecord, requireScope }: Context<SendBody>) {
  const link = linkOf(body, { caller, requireScope });
  return commit(async (unit) => {
    const invoice = await requireRecord(Invoice, unit.session);
    if (invoice.status === 'Draft') {
      requireScope('invoices:write');
      await changeInvoice(unit, { invoice, given: { status: 'Sent' }, caller });
    }
    const record = await requireRecord(Invoice, unit.session);
    const wanted = wantedMail(body);
    return acceptedMessage(
      unit,
      await planMessage(unit, { kind: 'invoice', type: 'invoice', record, wanted, link, requestId }),
    );
  });
}

async function remindInvoice({ caller, body, commit, requestId, requireRecord, requireScope }: Context<SendBody>) {
  const link = linkOf(body, { caller, requireScope });
  return commit(async (unit) => {
    const invoice = await requireRecord(Invoice, unit.session);
    return acceptedMessage(unit, await remindByHand(unit, invoice, { wanted: wantedMail(body), link, requestId }));
  });
}

/** Returns the link that the mail carries. @throws AppError 403 for hours that the caller may not read. */
function linkOf(
  { include_link, include_time }: SendBody,
  { caller, requireScope }: Pick<Context<SendBody>, 'caller' | 'requireScope'>,
) {
  if (include_time) requireScope('time-entries:read');
  return include_link === false ? undefined : mailedLink('invoice', caller, { show_time: include_time === true });
}
