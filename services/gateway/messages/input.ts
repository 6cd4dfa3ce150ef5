// Input of messages: the filters of their list, resending, and what came back.
import Joi from 'joi';
import type { WantedMail } from '#libs/billing/messages/plan-message.ts';
import { line, uuid } from '#libs/input/kinds.ts';
import {
  MESSAGE_STATES,
  Message,
  type MessageRecord,
  messageListing,
  normalAddress,
} from '#libs/models/messages/message.ts';
import { MESSAGE_KINDS } from '#libs/models/messages/message-kinds.ts';
import { Suppression, type SuppressionRecord, suppressionListing } from '#libs/models/messages/suppression.ts';
import { storedId } from '#libs/models/tenant.ts';
import { emailForm } from '#libs/profile-forms.ts';
import { addresses } from '../fields/send-input.ts';
import { byId, listOf } from '../http/list.ts';

/** Characters of a mail server's reply in a report. A longer one is cut. */
const TEXT_LONGEST = 2_000;
/** Characters of the longest address that is looked for. */
const ADDRESS_LONGEST = 320;

const address = () => emailForm(line());

export const messageList = listOf<MessageRecord>(Message, messageListing, {
  state: {
    input: Joi.string()
      .valid(...MESSAGE_STATES)
      .description('Only messages in this state'),
    where: (state: string) => ({ state }),
  },
  kind: {
    input: Joi.string()
      .valid(...MESSAGE_KINDS)
      .description('Only messages of this kind'),
    where: (kind: string) => ({ $and: [{ kind }] }),
  },
  client_id: byId('client_id'),
  document_id: {
    input: uuid().description('Only messages about this document'),
    where: (id: string) => ({ 'document.id': storedId(id) }),
  },
  recipient: {
    input: line().max(ADDRESS_LONGEST).description('Only messages to this address'),
    where: (text: string) => ({ 'recipients.address': normalAddress(text) }),
  },
});

export const suppressionList = listOf<SuppressionRecord>(Suppression, suppressionListing);

export type ResendBody = { [Name in 'to' | 'cc' | 'bcc']?: WantedMail[Name] | null };

export const resending = Joi.object<ResendBody>({
  to: addresses().description('Instead of the recipients of the message'),
  cc: addresses().description('Together with `to`'),
  bcc: addresses().description('Together with `to`'),
})
  .with('cc', 'to')
  .with('bcc', 'to')
  .example({ to: ['ada@example.org'] });

const BOUNCE_KINDS = ['hard', 'soft', 'complaint'] as const;

export interface BounceBody {
  message_id: string;
  recipient: string;
  kind: (typeof BOUNCE_KINDS)[number];
  text?: string | null;
  code?: string | null;
}

const MESSAGE_ID_LONGEST = 250;
const CODE_LONGEST = 20;

export const bounce = Joi.object<BounceBody>({
  message_id: line()
    .max(MESSAGE_ID_LONGEST)
    .required()
    .description('The `id` of the message, or its header `Message-ID` with or without the angle brackets'),
  recipient: address().required().description('The address that the report is about'),
  kind: Joi.string()
    .valid(...BOUNCE_KINDS)
    .required()
    .description('`hard` and `complaint` suppress the address; `soft` is only noted'),
  text: line().max(TEXT_LONGEST).allow(null, '').description('The words of the receiving mail server'),
  code: line().max(CODE_LONGEST).allow(null, '').description('Its code, such as 550 5.1.1'),
}).example({
  message_id: '<019a1f00-0000-7000-8000-000000003a11@mail.example.com>',
  recipient: 'ada@example.com',
  kind: 'hard',
  text: 'no such user',
  code: '550 5.1.1',
});

/** An address in the path of a suppression. */
export const suppressedAddress = line()
  .max(ADDRESS_LONGEST)
  .required()
  .description('The address')
  .example('ada@example.com');
