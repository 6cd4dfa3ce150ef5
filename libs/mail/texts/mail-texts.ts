// The words of mails in one language. A word in braces is replaced by what it names, see mail-values.ts.
import type { MessageKind } from '../../models/messages/message-kinds.ts';

export interface MailText {
  /** One line of plain text. */
  subject: string;
  /** Markdown, in paragraphs. */
  body: string;
  /** The second paragraph of a mail to which nothing is attached, where that of `body` speaks of an attachment. */
  withoutFiles?: string;
}

export type MailTexts = Readonly<Record<MessageKind, MailText>>;
