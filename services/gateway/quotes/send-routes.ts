// Sends quotes by mail. A draft becomes Sent in the same transaction.
import { planMessage } from '#libs/billing/messages/plan-message.ts';
import { Quote } from '#libs/models/billing/quote.ts';
import { mailedLink } from '../fields/mailed-link.ts';
import { acceptedMessage, sendDocs } from '../fields/send-docs.ts';
import { type SendBody, sendBody, wantedMail } from '../fields/send-input.ts';
import { ALWAYS, type Context, type Route, route } from '../http/route.ts';
import { changeQuote } from './update-quote.ts';

export const quoteSendRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/v1/quotes/{id}/send',
    operation: 'sendQuote',
    isPrinted: true,
    scope: 'messages:write',
    alsoNeeds: { 'quotes:read': ALWAYS, 'quotes:write': 'the quote is a draft' },
    body: sendBody('quote'),
    details: 'list',
    missing: 'Quote not found or access denied',
    rechecksKey: true,
    docs: {
      ...sendDocs,
      title: 'Send a quote',
      summary: 'Send a quote by mail, and make a draft Sent',
    },
    handler: sendQuote,
  }),
];

async function sendQuote({ caller, body, commit, requestId, requireRecord, requireScope }: Context<SendBody>) {
  return commit(async (unit) => {
    const quote = await requireRecord(Quote, unit.session);
    if (quote.status === 'Draft') {
      requireScope('quotes:write');
      await changeQuote(unit, { quote, given: { status: 'Sent' }, caller });
    }
    const record = await requireRecord(Quote, unit.session);
    const wanted = wantedMail(body);
    const link = body.include_link === false ? undefined : mailedLink('quote', caller);
    return acceptedMessage(
      unit,
      await planMessage(unit, { kind: 'quote', type: 'quote', record, wanted, link, requestId }),
    );
  });
}
