// The words of an account's mails: a subject and a text for one kind in one language, where they are not the standard ones.

import type { Session } from '../../mongo/connection.ts';
import { recordSchema } from '../record-schema.ts';
import { driverOf, recordsOf, type Stamped } from '../records.ts';
import { type Id, storedId } from '../tenant.ts';
import { MESSAGE_KINDS, type MessageKind } from './message-kinds.ts';

export interface MailTemplateRecord extends Stamped {
  kind: MessageKind;
  /** A language of ISO 639-1. */
  language: string;
  subject: string;
  /** Markdown. */
  body: string;
}

const mailTemplateSchema = recordSchema<MailTemplateRecord>(
  'mail_templates',
  {
    kind: { type: String, enum: MESSAGE_KINDS, required: true },
    language: { type: String, required: true },
    subject: { type: String, required: true },
    body: { type: String, required: true },
  },
  { filters: [], orders: {}, standard: '' },
);
// A kind has one template in each language.
mailTemplateSchema.index({ account_id: 1, kind: 1, language: 1 }, { unique: true });

export const MailTemplate = recordsOf<MailTemplateRecord>('MailTemplate', mailTemplateSchema);

/** Returns the account's templates of a kind, one for each language that has its own. */
export async function findMailTemplates(
  accountId: Id,
  kind: MessageKind,
  session?: Session,
): Promise<MailTemplateRecord[]> {
  const own = { account_id: storedId(accountId), kind } as object;
  const found = await driverOf(MailTemplate)
    .find(own, session ? { session } : {})
    .toArray();
  return found as unknown as MailTemplateRecord[];
}
