// Sends credit notes by mail.
import { planMessage } from '#libs/billing/messages/plan-message.ts';
import { CreditNote } from '#libs/models/billing/credit-note.ts';
import { acceptedMessage, sendDocs } from '../fields/send-docs.ts';
import { type SendBody, sendBody, wantedMail } from '../fields/send-input.ts';
import { ALWAYS, type Context, type Route, route } from '../http/route.ts';

export const creditNoteSendRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/v1/credit-notes/{id}/send',
    operation: 'sendCreditNote',
    scope: 'messages:write',
    alsoNeeds: { 'credit-notes:read': ALWAYS },
    body: sendBody('credit_note'),
    missing: 'Credit note not found or access denied',
    rechecksKey: true,
    docs: { ...sendDocs, title: 'Send a credit note', summary: 'Send a credit note by mail' },
    handler: sendCreditNote,
  }),
];

async function sendCreditNote({ body, commit, requestId, requireRecord }: Context<SendBody>) {
  return commit(async (unit) => {
    const record = await requireRecord(CreditNote, unit.session);
    const wanted = wantedMail(body);
    const mail = { kind: 'credit_note', type: 'credit_note', record, wanted, requestId } as const;
    return acceptedMessage(unit, await planMessage(unit, mail));
  });
}
