// The mail of a message: made once, and the same at every attempt.
import { findMailSource } from '#libs/models/messages/mail-source.ts';
import type { MessageRecord } from '#libs/models/messages/message.ts';
import { wireId } from '#libs/models/tenant.ts';
import type { MadeMail } from './send-message.ts';
import type { Sender } from './sender.ts';

export function makeMailOf(_options: { sender: Sender }) {
  return async (message: MessageRecord): Promise<MadeMail> => {
    const kept = await findMailSource(wireId(message.account_id), message._id);
    if (kept) return { bytes: kept };
    throw new Error('not made yet');
  };
}
