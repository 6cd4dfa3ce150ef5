// A mail about a document: its recipients, its attempts, and the state of each. The record plans the attempts.
import type { LinkAct, LinkSubject } from '../../rules/documents/link-terms.ts';
import { NUMBER_KINDS, type NumberKind } from '../../rules/documents/number-kinds.ts';
import { fromMinor } from '../../rules/money/money.ts';
import { type ClientDetails, embeddedClient } from '../accounts/client.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';
import { idField, requiredIdField, type StoredId } from '../tenant.ts';
import type { Actor } from '../webhooks/event-activity.ts';
import { MESSAGE_KINDS, type MessageKind } from './message-kinds.ts';

/** The meaning of each state, and the moves between them, are in message-states.ts. */
export const MESSAGE_STATES = ['planned', 'queued', 'sending', 'accepted', 'unknown', 'failed', 'cancelled'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

export const RECIPIENT_STATES = [...MESSAGE_STATES, 'bounced', 'complained', 'suppressed'] as const;
export type RecipientState = (typeof RECIPIENT_STATES)[number];

export const RECIPIENT_ROLES = ['to', 'cc', 'bcc'] as const;
export type RecipientRole = (typeof RECIPIENT_ROLES)[number];

/** The most recipients of one message, in all roles. */
export const RECIPIENTS_MAX = 20;
/** The number of attempts that the record keeps, the latest ones. */
export const MESSAGE_ATTEMPTS_KEPT = 30;
/** The most characters of a relay's reply that are kept. */
export const REPLY_LONGEST = 500;

export interface Recipient {
  /** The address in lower case. */
  address: string;
  role: RecipientRole;
  state: RecipientState;
  /** The code of the relay's reply, or of a delivery report: `550 5.1.1`. */
  code?: string | undefined;
  text?: string | undefined;
  /** The time of the last change of its state. */
  at?: Date | undefined;
  /** Present on the address for blind copies of the account, unless the caller named it, too. */
  archive?: true | undefined;
}

export interface MailAttachment {
  name: string;
  bytes: number;
  /** In hex. */
  sha256: string;
}

/** One try to hand the message to the relay. */
export interface MailAttempt {
  at: Date;
  duration_ms?: number | undefined;
  /** The code of the relay's reply. Absent when there was none. */
  code?: string | undefined;
  text?: string | undefined;
}

/** The kinds of documents that messages are about. */
export const MAILED_KINDS = [...NUMBER_KINDS, 'statement'] as const satisfies readonly (NumberKind | 'statement')[];
export type MailedKind = (typeof MAILED_KINDS)[number];

/** The document that a message is about. A statement of account is not stored: it has the id of its client. */
interface MailedDocument {
  type: MailedKind;
  id: StoredId;
  /** The number as it is printed, or the name of the statement. */
  number: string;
}

/** The question of a client, and its answer. */
export interface MessageTexts {
  question: string;
  answer: string;
}

/** The link that a mail carries. It is made with the mail, so that only the mail has its address. */
export interface MailedLink {
  type: LinkSubject;
  /** The invoice that the link of a receipt shows. Absent where the link shows the document of the mail, or its client. */
  invoice_id?: StoredId | undefined;
  allow: readonly LinkAct[];
  show_time: boolean;
  /** True when the page also shows the statement of account of the client. */
  show_statement?: true | undefined;
  /** The life of the link from the moment at which the mail is made, in milliseconds. Absent for the standard life. */
  life_ms?: number | undefined;
  /** The link in whose place it comes. It is not mailed once that one is revoked. */
  renews?: StoredId | undefined;
}

/** The demand of a reminder. */
export interface MessageReminder {
  /** The step that it is, in days from the due date. Absent on one that was sent by hand. */
  days?: number | undefined;
  /** Present on one that may go out before the due date: a step of such days, or one that repeats it. */
  early?: true | undefined;
  /** The sum that was due when it was planned, in the smallest unit of `currency`. If it changes before the mail leaves, the reminder is planned anew. */
  amount_due: number;
  currency: string;
}

export interface MessageRecord extends Stamped {
  kind: MessageKind;
  document: MailedDocument;
  client_id: StoredId;
  /** The first and the last day of a statement, `YYYY-MM-DD`. Absent on other messages. */
  period?: { from: string; to: string } | undefined;
  /** The language tag of the message. */
  locale: string;
  /** The subject, filled in. It is filled in again when the mail is made. */
  subject: string;
  /** The subject with its placeholders. */
  subject_template: string;
  /** The text in Markdown with its placeholders. */
  body_template: string;
  attach_pdf: boolean;
  /** Texts of this message alone, for placeholders of its kind. */
  texts?: MessageTexts | undefined;
  /** Absent on a mail without a link. */
  link?: MailedLink | undefined;
  /** The address of the sender, where the mail leaves by a server of the account. Absent for that of the installation. */
  sender?: string | undefined;
  recipients: Recipient[];
  state: MessageState;
  /** The attachments. Empty until the mail is made. */
  attachments: MailAttachment[];
  /**
   * The fingerprint of the document as the mail shows it. Absent until the mail is made, and on a mail that shows none. Empty
   * for a mail that is to be made anew, because the address of the client has changed.
   */
  shown?: string | undefined;
  attempts: MailAttempt[];
  /** The number of attempts that were made. */
  attempts_made: number;
  /** The header `Message-ID`, in angle brackets. Every attempt has the same one. */
  message_id: string;
  /** The time for which the caller planned it. */
  send_at?: Date | undefined;
  /** A name of the reason why it may be sent once only, such as a receipt of a payment or a step of reminders. */
  once?: string | undefined;
  /** Present on the mail of a quote that had been accepted when it was planned: it brings a copy. */
  of_accepted?: true | undefined;
  /** Absent on other messages than reminders. */
  reminder?: MessageReminder | undefined;
  /** The message that it repeats. */
  resend_of?: StoredId | undefined;
  /** The message that repeats it, the latest one. */
  resent_as?: StoredId | undefined;
  request_id?: string | undefined;
  /** The actor that planned it, whom the activity of its document names. */
  by?: Actor | undefined;
  /** The time from which the next attempt may be made. */
  next_at?: Date | undefined;
  /** The time at which the poller must look at it (again). Later than `next_at` while a worker has it. */
  due_at?: Date | undefined;
  /** The proof of the worker that owns the message until `lease_until`. */
  lease_id?: string | undefined;
  lease_until?: Date | undefined;
  /** A part of the job's id. Each attempt and each change of plan raises it. */
  revision: number;
  /** The time since which it is not known whether the relay took it. It stays, so that there is one repetition. */
  unknown_at?: Date | undefined;
  accepted_at?: Date | undefined;
  /** The time at which it was accepted, failed or cancelled. */
  settled_at?: Date | undefined;
  /** The time at which addresses and texts were erased, because the client was anonymised. */
  erased_at?: Date | undefined;
}

export const messageListing: ListingOf<MessageRecord, 'created_at' | 'updated_at'> = {
  filters: ['document.id', 'recipients.address', 'client_id', 'state'],
  orders: { created_at: '_id', updated_at: 'updated_at' },
  standard: '-created_at',
  omitted: ['body_template', 'texts'],
};

/** The index of messages with a recipient in one of `states`. A message that goes well is never in it. */
export const ENDED_BADLY = {
  name: 'ended_badly',
  states: ['bounced', 'cancelled', 'complained', 'failed', 'suppressed'],
} as const satisfies { name: string; states: readonly RecipientState[] };

const recipient = {
  _id: false,
  address: { type: String, required: true },
  role: { type: String, enum: RECIPIENT_ROLES, required: true },
  state: { type: String, enum: RECIPIENT_STATES, required: true },
  code: String,
  text: String,
  at: Date,
  archive: Boolean,
};

const messageSchema = recordSchema<MessageRecord>(
  'messages',
  {
    kind: { type: String, enum: MESSAGE_KINDS, required: true },
    document: {
      _id: false,
      type: { type: String, enum: MAILED_KINDS, required: true },
      id: requiredIdField,
      number: { type: String, required: true },
    },
    client_id: requiredIdField,
    period: { type: { _id: false, from: String, to: String }, default: undefined },
    locale: { type: String, required: true },
    subject: { type: String, required: true },
    subject_template: { type: String, required: true },
    body_template: { type: String, required: true },
    attach_pdf: { type: Boolean, required: true },
    texts: { type: { _id: false, question: String, answer: String }, default: undefined },
    link: Object,
    sender: String,
    recipients: { type: [recipient], required: true },
    state: { type: String, enum: MESSAGE_STATES, required: true },
    attachments: [{ _id: false, name: String, bytes: Number, sha256: String }],
    shown: String,
    attempts: [{ _id: false, at: Date, duration_ms: Number, code: String, text: String }],
    attempts_made: { type: Number, required: true },
    message_id: { type: String, required: true },
    send_at: Date,
    once: String,
    of_accepted: Boolean,
    reminder: {
      type: { _id: false, days: Number, early: Boolean, amount_due: Number, currency: String },
      default: undefined,
    },
    resend_of: idField,
    resent_as: idField,
    request_id: String,
    by: Object,
    next_at: Date,
    due_at: Date,
    lease_id: String,
    lease_until: Date,
    revision: { type: Number, required: true },
    unknown_at: Date,
    accepted_at: Date,
    settled_at: Date,
    erased_at: Date,
  },
  messageListing,
);
// A receipt of a payment, and a step of reminders of an invoice, goes out once by itself.
messageSchema.index({ account_id: 1, once: 1 }, { unique: true, partialFilterExpression: { once: { $exists: true } } });
// A delivery report names the message by this header.
messageSchema.index({ account_id: 1, message_id: 1 }, { unique: true });
// The poller looks for due messages of all accounts here.
messageSchema.index({ due_at: 1 }, { sparse: true });
// Operators look here for messages that did not arrive, in all accounts.
messageSchema.index(
  { 'recipients.state': 1, _id: 1 },
  { name: ENDED_BADLY.name, partialFilterExpression: { 'recipients.state': { $in: ENDED_BADLY.states } } },
);

export const Message = recordsOf<MessageRecord>('Message', messageSchema);

/** Returns the form of an address in which it is stored and compared. */
export function normalAddress(address: string): string {
  return address.trim().toLowerCase();
}

/** Returns the message in the form of the API. */
export function messageView(message: MessageRecord, client: ClientDetails | undefined) {
  const { document } = message;
  return {
    id: String(message._id),
    kind: message.kind,
    document: { type: document.type, id: String(document.id), number: document.number },
    client: client ? embeddedClient(client) : null,
    subject: message.subject,
    sender: message.sender ?? null,
    recipients: message.recipients.map(({ address, role, state, code, text, at }) => ({
      address,
      role,
      state,
      code: code ?? null,
      text: text ?? null,
      at: at?.toISOString() ?? null,
    })),
    state: message.state,
    attachments: message.attachments.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 })),
    attempts: message.attempts.map(({ at, duration_ms, code, text }) => ({
      at: at.toISOString(),
      duration_ms: duration_ms ?? null,
      code: code ?? null,
      text: text ?? null,
    })),
    message_id: message.message_id,
    resend_of: message.resend_of ? String(message.resend_of) : null,
    send_at: message.send_at?.toISOString() ?? null,
    next_attempt_at: message.next_at?.toISOString() ?? null,
    accepted_at: message.accepted_at?.toISOString() ?? null,
    created_at: message.created_at.toISOString(),
    updated_at: message.updated_at.toISOString(),
    reminder: reminderView(message),
    period: message.period ? { from: message.period.from, to: message.period.to } : null,
  };
}

function reminderView({ reminder }: Pick<MessageRecord, 'reminder'>) {
  if (!reminder) return null;
  const { days, amount_due, currency } = reminder;
  return { days: days ?? null, amount_due: fromMinor(amount_due, currency), currency };
}

/** Returns the state that a document shows of its last message: the worst that came back, else that of the message. */
export function deliveryStateOf({ state, recipients }: Pick<MessageRecord, 'state' | 'recipients'>): RecipientState {
  const back = (['complained', 'bounced'] as const).find((one) => recipients.some((each) => each.state === one));
  return back ?? state;
}
