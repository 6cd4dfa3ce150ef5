// The body of every operation that sends a document by mail.
import Joi from 'joi';
import type { WantedMail } from '#libs/billing/messages/plan-message.ts';
import { agreedTime } from '#libs/clock.ts';
import { refuse } from '#libs/input/joi-problems.ts';
import { line, moment, paragraphs } from '#libs/input/kinds.ts';
import { placeholdersOf, unknownPlaceholders } from '#libs/mail/placeholders.ts';
import { RECIPIENTS_MAX } from '#libs/models/messages/message.ts';
import type { MessageKind } from '#libs/models/messages/message-kinds.ts';
import { emailForm } from '#libs/profile-forms.ts';

export const SUBJECT_LONGEST = 200;
export const BODY_LONGEST = 10_000;
/** The days for which a mail can be planned ahead. */
const AHEAD_DAYS = 366;
const DAY_MS = 24 * 3_600_000;

export type SendBody = { [Name in keyof WantedMail]: WantedMail[Name] | null } & {
  include_link?: boolean | null;
  include_time?: boolean | null;
};

export const addresses = () => Joi.array().items(emailForm(line())).max(RECIPIENTS_MAX).allow(null);

/** The kinds of mails with a link to the page of a document, and the document. */
const LINKED: Partial<Record<MessageKind, string>> = {
  invoice: 'the document',
  quote: 'the document',
  reminder_1: 'the document',
  receipt: 'the invoice, of a payment of one invoice',
  statement: 'all open documents of the client, with the statement',
};

/** The words of what `include_link` is unless it is set, where that is not true. */
const UNLESS_SET: Partial<Record<MessageKind, string>> = {
  receipt: 'true unless set, for a key that may read invoices',
  statement: 'false unless set',
};

/** The kinds of mails whose page can show hours. */
const TIMED: readonly MessageKind[] = ['invoice', 'reminder_1'];

/** The body that sends a document. @param kind of the mail, which decides the placeholders. */
export function sendBody(kind: MessageKind): Joi.ObjectSchema<SendBody> {
  return Joi.object<SendBody>({
    ...mailFields(kind),
    send_at: moment()
      .custom(sendTime)
      .allow(null)
      .description(`When it leaves, within ${AHEAD_DAYS} days; at once unless given. The document is issued at once`),
  }).example({ cc: ['accounting@example.com'], message: 'Hello {client_name},\n\ninvoice {number} is attached.' });
}

/** The body of a reminder by hand, which leaves at once. */
export const remindBody = Joi.object<SendBody>(mailFields('reminder_1')).example({
  message: 'Hello {client_name},\n\n{amount_due} was due on {due_date}. When may we expect it?',
});

function mailFields(kind: MessageKind) {
  const known = placeholdersOf(kind)
    .map((name) => `\`{${name}}\``)
    .join(', ');
  return {
    to: addresses().description(`Instead of the client's \`email\`; at most ${RECIPIENTS_MAX} recipients in all`),
    cc: addresses().description('Recipients of copies'),
    bcc: addresses().description('Recipients of blind copies, which no other recipient sees'),
    subject: withPlaceholders(line().max(SUBJECT_LONGEST), kind)
      .allow(null, '')
      .description(`Instead of that of the template; may hold ${known}`),
    message: withPlaceholders(paragraphs().max(BODY_LONGEST), kind)
      .allow(null, '')
      .description('The text in Markdown, instead of that of the template; may hold the same placeholders'),
    attach_pdf: Joi.boolean().allow(null).description('Whether the PDF of the document is attached; true unless set'),
    ...(LINKED[kind]
      ? {
          include_link: Joi.boolean()
            .allow(null)
            .description(
              `Whether the mail has a link to the page of ${LINKED[kind]}, where the portal is set up; ${UNLESS_SET[kind] ?? 'true unless set'}`,
            ),
        }
      : {}),
    ...(TIMED.includes(kind)
      ? {
          include_time: Joi.boolean()
            .allow(null)
            .description('Whether the page of the link also shows the hours behind each line; false unless set'),
        }
      : {}),
  };
}

/** Rejects names in braces that a mail of this kind has no value for. */
function withPlaceholders(shape: Joi.StringSchema, kind: MessageKind): Joi.StringSchema {
  return shape.custom((text: string, helpers) => {
    const names = unknownPlaceholders(kind, text).map((name) => `{${name}}`);
    if (names.length === 0) return text;
    const said = '{{#label}} must not contain {{#params.names}}: there is no such value in a mail of this kind';
    return refuse(helpers, 'unknown_placeholder', said, { names: names.join(', ') });
  });
}

/** Returns the wishes without those that are null or empty. */
export function wantedMail(body: SendBody): WantedMail {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== '')) as WantedMail;
}

function sendTime(moment: Date, helpers: Joi.CustomHelpers) {
  const aheadMs = moment.getTime() - agreedTime();
  if (aheadMs > 0 && aheadMs <= AHEAD_DAYS * DAY_MS) return moment;
  const text = '{{#label}} must be within the next {{#params.days}} days';
  return refuse(helpers, 'send_time_out_of_range', text, { days: AHEAD_DAYS });
}
