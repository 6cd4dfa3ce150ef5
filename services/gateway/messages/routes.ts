// Messages over HTTP: what was mailed, what became of it, and what came back.
import { moveMessage, shownMessage } from '#libs/billing/messages/move-message.ts';
import { planMessage } from '#libs/billing/messages/plan-message.ts';
import { bookReport, reportBounce } from '#libs/billing/messages/report-bounce.ts';
import { mailedRecord } from '#libs/billing/messages/withdraw-message.ts';
import { agreedDate } from '#libs/clock.ts';
import { appError, fieldProblem } from '#libs/errors.ts';
import { allows } from '#libs/models/accounts/api-key.ts';
import { clientsOf } from '#libs/models/accounts/client.ts';
import { findMailSource } from '#libs/models/messages/mail-source.ts';
import { Message, type MessageRecord, messageView } from '#libs/models/messages/message.ts';
import { MESSAGE_MOVES } from '#libs/models/messages/message-states.ts';
import { findOwn } from '#libs/models/records.ts';
import { messageResponse } from '#libs/responses/message.ts';
import {
  MAIL_NEEDS,
  MAILED_LINK_NEEDS,
  mailedLink,
  mayReadStatement,
  scopesOfMail,
  scopesOfMailedLink,
} from '../fields/mailed-link.ts';
import { acceptedMessage, sendDocs } from '../fields/send-docs.ts';
import type { ListQuery } from '../http/list.ts';
import { updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { whenGone } from '../printing/caller-gone.ts';
import { sendFile } from '../printing/send-pdf.ts';
import { type BounceBody, bounce, messageList, type ResendBody, resending } from './input.ts';
import type { DeliveryReport } from './report/parse-report.ts';
import { REPORT_BYTES_MAX, readReport } from './report/read-report.ts';

const path = '/api/v1/messages';
const missing = 'Message not found or access denied';

export const messageRoutes: readonly Route[] = [
  route({
    method: 'get',
    path,
    operation: 'listMessages',
    scope: 'messages:read',
    query: messageList.query,
    docs: { title: 'List messages', summary: 'List messages, newest first', response: messageResponse },
    handler: listMessages,
  }),
  route({
    method: 'post',
    path: `${path}/bounces`,
    operation: 'reportBounce',
    scope: 'messages:write',
    body: bounce,
    alsoReads: { type: 'message/rfc822', limitBytes: REPORT_BYTES_MAX },
    missing,
    docs: {
      title: 'Report a bounce',
      summary: 'Report a message that came back, or that its recipient complained about',
      description:
        'For relays that call when mail comes back, and for mail servers that pass on the report itself as `message/rfc822`, at most ' +
        `${REPORT_BYTES_MAX / 2 ** 20} MiB. The same report twice counts once. After a hard bounce or a complaint the account does not ` +
        'mail the address any more, until it is freed.',
      response: messageResponse,
      status: 200,
      missingReference: missing,
    },
    handler: postBounce,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getMessage',
    scope: 'messages:read',
    missing: 'Message not found',
    docs: { summary: 'Get a message', response: messageResponse },
    read: readMessage,
  }),
  route({
    method: 'get',
    path: `${path}/{id}/source`,
    operation: 'getMessageSource',
    scope: 'messages:read',
    alsoNeeds: { ...MAIL_NEEDS, ...MAILED_LINK_NEEDS },
    missing: 'Message not found',
    produces: 'message/rfc822',
    isStoredFile: true,
    docs: {
      title: 'Get the source of a message',
      summary: 'Get the mail as it was sent, with its headers and attachments',
      description: 'Kept for 90 days after it was made. Blind copies are not in its headers.',
      conflict: appError('mail_not_made'),
    },
    handler: sendSource,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/resend`,
    operation: 'resendMessage',
    scope: 'messages:write',
    alsoNeeds: MAIL_NEEDS,
    body: resending,
    missing,
    rechecksKey: true,
    docs: {
      ...sendDocs,
      title: 'Send a message again',
      summary: 'Send a message again, as a new one with the same words',
      conflict: appError('message_not_ended', { state: 'queued' }),
    },
    handler: resendMessage,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/cancel`,
    operation: 'cancelMessage',
    isAllowedOverQuota: true,
    scope: 'messages:write',
    missing,
    docs: {
      title: 'Cancel a message',
      summary: 'Cancel a message that has not left',
      response: messageResponse,
      status: 200,
      conflict: appError('message_not_cancellable', { state: 'sending' }),
    },
    handler: cancelMessage,
  }),
];

async function listMessages({ caller, query }: Context<unknown, ListQuery>) {
  return messageList.respond({ caller, query }, async (messages) => {
    const clients = await clientsOf(
      caller.accountId,
      messages.map(({ client_id }) => client_id),
    );
    return messages.map((message) => messageView(message, clients.get(String(message.client_id))));
  });
}

async function postBounce({ body, raw, caller, commit, missing: notFound, response }: Context<BounceBody>) {
  return commit(
    async (unit, report: DeliveryReport | undefined) => {
      const outcome = report
        ? await bookReport(unit, report)
        : await reportBounce(unit, { ...body, text: body.text || undefined, code: body.code || undefined });
      if (outcome === 'unknown message') throw notFound();
      if (outcome === 'unknown recipient')
        throw report ? fieldProblem('body', 'report_without_recipient') : fieldProblem('recipient', 'not_a_recipient');
      return updated(await shownMessage(unit, outcome));
    },
    async () => raw && readReport(caller.accountId, raw, whenGone(response)),
  );
}

async function readMessage({ caller, id, session }: Reading) {
  const message = await findOwn(Message, caller.accountId, id, session);
  if (!message) return null;
  const clients = await clientsOf(caller.accountId, [message.client_id], session);
  return messageView(message, clients.get(String(message.client_id)));
}

async function sendSource(context: Context): Promise<undefined> {
  const { caller, id, requireRecord, requireScope } = context;
  const message = await requireRecord(Message);
  for (const scope of [...scopesOfMail(message), ...scopesOfMailedLink(message)]) requireScope(scope);
  const bytes = await findMailSource(caller.accountId, id);
  if (!bytes) throw appError(message.attachments.length > 0 || message.settled_at ? 'mail_not_kept' : 'mail_not_made');
  sendFile(context, { name: message.document.number, end: '.eml', type: 'message/rfc822' }, { bytes, warnings: [] });
  return undefined;
}

async function resendMessage({ caller, body, commit, requestId, requireRecord, requireScope }: Context<ResendBody>) {
  return commit(async (unit) => {
    const message = await requireRecord(Message, unit.session);
    for (const scope of scopesOfMail(message)) requireScope(scope);
    if (!message.settled_at || message.erased_at) throw appError('message_not_ended', { state: message.state });
    const wanted = {
      ...recipientsFor(message, body),
      subject: message.subject_template,
      message: message.body_template,
    };
    const { kind, attach_pdf, texts, document, _id: resendOf } = message;
    const { invoice_id, life_ms, renews } = message.link ?? {};
    const showsTime = message.link?.show_time === true && allows(caller.scopes, 'time-entries:read');
    const link = message.link && {
      ...mailedLink(message.link.type, caller, { show_time: showsTime, within: message.link.allow }),
      ...(invoice_id ? { invoice_id } : {}),
      // The new link shows the statement only where this caller may read it.
      ...(message.link.show_statement && mayReadStatement(caller) ? { show_statement: true as const } : {}),
      ...(life_ms === undefined ? {} : { life_ms }),
      ...(renews ? { renews } : {}),
    };
    const record = await mailedRecord(caller.accountId, message, unit.session);
    if (!record) throw appError('document_not_found');
    // Its words and recipients are those of the client that a quote had before it was a draft again.
    if (!record.client_id.equals(message.client_id)) throw appError('message_of_other_client');
    const { early } = message.reminder ?? {};
    const own = { kind, wanted: { ...wanted, attach_pdf }, texts, link, early, resendOf, requestId };
    return acceptedMessage(unit, await planMessage(unit, { ...own, type: document.type, record }));
  });
}

/** The recipients that a caller names, or those of the message. */
function recipientsFor({ recipients }: MessageRecord, { to, cc, bcc }: ResendBody) {
  if (to) return { to, cc: cc ?? [], bcc: bcc ?? [] };
  // The archive of the account is the one of today.
  const named = recipients.filter(({ archive }) => !archive);
  const inRole = (wanted: string) => named.filter(({ role }) => role === wanted).map(({ address }) => address);
  return { to: inRole('to'), cc: inRole('cc'), bcc: inRole('bcc') };
}

async function cancelMessage({ commit, requireRecord }: Context) {
  return commit(async (unit) => {
    const message = await requireRecord(Message, unit.session);
    const now = agreedDate();
    const isOpen = (MESSAGE_MOVES.cancel.from as readonly string[]).includes(message.state);
    const cancelled =
      isOpen && (await moveMessage(unit, message, { move: 'cancel', facts: { now }, values: { settledAt: now } }));
    // A worker that has it is about to send it.
    if (!cancelled) throw appError('message_not_cancellable', { state: isOpen ? 'sending' : message.state });
    return updated(await shownMessage(unit, cancelled));
  });
}
