// The words of the reference for operations that send a document by mail, and their response.
import { shownMessage } from '#libs/billing/messages/move-message.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { appError } from '#libs/errors.ts';
import type { MessageRecord } from '#libs/models/messages/message.ts';
import { messageResponse } from '#libs/responses/message.ts';

export const sendDocs = {
  description:
    'Responds as soon as the message is stored; the mail service sends it. What becomes of it for each recipient is in the ' +
    'message, and in the events `message.accepted`, `message.failed` and `message.bounced`. The attached PDF is the original ' +
    'of the document. Every 409 is said before anything is stored.',
  response: messageResponse,
  status: 202,
  conflict: appError('mail_not_set_up'),
} as const;

/** Returns the response of an operation that makes a message. */
export async function acceptedMessage(unit: UnitOfWork, message: MessageRecord) {
  return { status: 202, body: { success: true, data: await shownMessage(unit, message) } };
}
