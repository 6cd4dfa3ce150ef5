// The part of an event that the activity of a document shows: the documents that it is about, its facts, and the actor.
import { sumBy } from 'es-toolkit/math/sumBy';
import { fromMinor } from '../../rules/money/money.ts';
import { type Id, type StoredId, storedId } from '../tenant.ts';
import { type EventNoun, type EventType, nounOf } from './event-types.ts';

/**
 * The kinds of actors.
 * - `api_key`: a caller; its id is that of the key.
 * - `client`: a client on its page; its id is that of the link by which it came.
 * - `stripe`: an event that Stripe sent.
 * - `schedule`: a date that passed.
 * - `mail`: the outcome of a mail whose planner is not known.
 * - `operator`: a command of the operator, or an action on the dashboard.
 */
export const ACTOR_TYPES = ['api_key', 'client', 'stripe', 'schedule', 'mail', 'operator'] as const;

export interface Actor {
  type: (typeof ACTOR_TYPES)[number];
  id?: Id;
}

export const ACTIVITY_RECORDS = [
  'quote',
  'invoice',
  'recurring_invoice',
  'payment',
  'credit_note',
  'message',
  'link',
  'promise',
  'question',
  'acceptance',
] as const;
export type ActivityRecord = (typeof ACTIVITY_RECORDS)[number];

/** The facts of an event besides its type. A document shows those of its own, such as `status`, to every reader. */
export interface ActivityFacts {
  /** The status of the document after the event. */
  status?: string;
  /** The amount that is due of the invoice after the event, in major units. */
  amount_due?: number;
  /** The other record that the event is about, or this one when it is about none. */
  record?: { type: ActivityRecord; id: Id; number?: string | null };
  /** In major units. A subject may have an amount of its own. */
  amount?: number;
  currency?: string;
  /** `YYYY-MM-DD`. */
  date?: string;
  /** The step of a reminder, in days from the due date. */
  days?: number;
  /** Words of the client, of the account or of a mail. The erasure of the client removes it. */
  text?: string;
  /** The erasure of the client removes them. */
  recipients?: { address: string; state: string }[];
}

/** The facts that may identify the client. */
export const ERASED_FACTS = ['text', 'recipients'] as const satisfies (keyof ActivityFacts)[];

/** Facts that the announcing code knows and the record of the event does not say. */
export interface ActivityHints {
  /** The parts of invoices that a movement of money takes back, in the smallest unit. */
  parts?: readonly { invoice_id: StoredId; amount: number }[];
  record?: ActivityFacts['record'];
  /** The actor, unless it is that of the unit of work. */
  by?: Actor | undefined;
  /** True for an event that only repeats what happened to another document. */
  isConsequence?: boolean;
}

interface Subject {
  id: Id;
  /** In major units. */
  amount?: number;
}

interface About {
  subjects: readonly Subject[];
  facts: ActivityFacts;
}

/** The stored form. An event about no document has none of the fields. */
export interface StoredActivity {
  subjects?: { id: StoredId; amount?: number }[];
  facts?: ActivityFacts;
  by?: { type: Actor['type']; id?: StoredId };
}

/** Returns the part of an event that the activities of its documents show. @param data the record in the form of the API. */
export function activityOf(
  type: EventType,
  data: unknown,
  { by, ...hints }: ActivityHints & { by: Actor | undefined },
): StoredActivity {
  if (hints.isConsequence) return {};
  const about = READERS[nounOf(type)]?.(data as never, type, hints);
  if (!about || about.subjects.length === 0) return {};
  const { subjects, facts } = about;
  const record = hints.record ?? facts.record;
  return {
    subjects: subjects.map(({ id, ...own }) => ({ id: storedId(id), ...own })),
    facts: { ...facts, ...(record ? { record } : {}) },
    ...(by ? { by: { type: by.type, ...(by.id ? { id: storedId(by.id) } : {}) } } : {}),
  };
}

/**
 * Leaves the entries of `invoice.updated` and `quote.updated` out where the same unit of work says more about the
 * document, or says it again. Movements of money do not say what is due then, so theirs stay.
 * @param told the documents of earlier events of the unit of work. Those of `events` are added.
 */
export function leaveOutRepeated(events: readonly ({ type: EventType } & StoredActivity)[], told: Set<Id>): void {
  for (const event of events) {
    if (isUpdate(event) || isMovement(event)) continue;
    for (const { id } of event.subjects ?? []) told.add(String(id));
  }
  for (const event of events.filter(isUpdate).toReversed()) {
    const id = String(event.subjects?.[0]?.id);
    if (told.has(id)) {
      delete event.subjects;
      delete event.facts;
      delete event.by;
    } else if (event.subjects) told.add(id);
  }
}

function isUpdate({ type }: { type: EventType }): boolean {
  return type === 'invoice.updated' || type === 'quote.updated';
}

function isMovement({ type }: { type: EventType }): boolean {
  return nounOf(type) === 'payment' || nounOf(type) === 'credit_note';
}

type Numbered<Name extends string> = { id: Id } & { [Field in Name]: string | null };

interface InvoiceData {
  id: Id;
  status: string;
  currency: string;
  amount_due: number;
  quote: Numbered<'quote_number'> | null;
  recurring: { id: Id } | null;
}

interface QuoteData {
  id: Id;
  status: string;
  currency: string;
  invoices: readonly (Numbered<'invoice_number'> & { amount: number })[];
  decline: { reason: string | null } | null;
}

interface PaymentData extends Numbered<'payment_number'> {
  currency: string;
  void_reason: string | null;
  voided_on: string | null;
  refunds: readonly { date: string }[];
}

interface RecordedData {
  invoice_id: Id;
  amount: number;
  currency: string;
  date: string;
  payment_id: Id;
  payment_number: string | null;
}

interface CreditNoteData extends Numbered<'credit_note_number'> {
  invoice: { id: Id };
  total: number;
  currency: string;
  issued_on: string;
  allocations: readonly { invoice: { id: Id }; amount: number; date: string }[];
  refunds: readonly { amount: number; date: string }[];
}

interface MessageData {
  id: Id;
  document: { type: string; id: Id };
  subject: string;
  recipients: readonly { address: string; state: string }[];
  reminder: { days: number | null } | null;
}

type PromiseData = { id: Id; invoice: { id: Id }; promised_for: string };
type QuestionData = { id: Id; document: { id: Id }; text: string; answer: string | null };
type LinkData = { id: Id; subject: { type: string; id: Id } };

type Reader = (data: never, type: EventType, hints: ActivityHints) => About | undefined;

const READERS: Partial<Record<EventNoun, Reader>> = {
  invoice: aboutInvoice,
  quote: aboutQuote,
  payment: aboutPayment,
  credit_note: aboutCreditNote,
  message: aboutMessage,
  reminder: aboutMessage,
  promise: aboutPromise,
  question: aboutQuestion,
  // The noun is the client, the data is what it said.
  client: aboutAnswer,
  link: ({ id, subject }: LinkData) =>
    subject.type === 'client' ? undefined : { subjects: [subject], facts: { record: { type: 'link', id } } },
};

function aboutInvoice({ id, status, currency, amount_due, quote, recurring }: InvoiceData, type: EventType): About {
  const facts: ActivityFacts = { status, amount_due, currency };
  if (type === 'invoice.created' && quote) facts.record = { type: 'quote', id: quote.id, number: quote.quote_number };
  else if (type === 'invoice.created' && recurring) facts.record = { type: 'recurring_invoice', id: recurring.id };
  return { subjects: [{ id }], facts };
}

function aboutQuote({ id, status, currency, invoices, decline }: QuoteData, type: EventType): About {
  const facts: ActivityFacts = { status };
  const made = type === 'quote.converted' ? invoices.at(-1) : undefined;
  if (made) {
    facts.record = { type: 'invoice', id: made.id, number: made.invoice_number };
    Object.assign(facts, { amount: made.amount, currency });
  }
  if (type === 'quote.declined' && decline?.reason) facts.text = decline.reason;
  return { subjects: [{ id }], facts };
}

function aboutPayment(data: PaymentData | RecordedData, type: EventType, { parts = [] }: ActivityHints): About {
  if ('invoice_id' in data) {
    const { invoice_id, amount, currency, date, payment_id, payment_number } = data;
    const record = { type: 'payment', id: payment_id, number: payment_number } as const;
    return { subjects: [{ id: invoice_id }], facts: { record, amount, currency, date } };
  }
  const { id, payment_number, currency, void_reason, voided_on, refunds } = data;
  const facts: ActivityFacts = { record: { type: 'payment', id, number: payment_number }, currency };
  if (type === 'payment.voided' && voided_on) Object.assign(facts, { date: voided_on, text: void_reason ?? '' });
  const refund = type === 'payment.refunded' ? refunds.at(-1) : undefined;
  if (refund) facts.date = refund.date;
  return { subjects: subjectsOf(parts, currency), facts };
}

function aboutCreditNote(note: CreditNoteData, type: EventType, { parts = [] }: ActivityHints): About {
  const { id, credit_note_number, currency, invoice, total, issued_on } = note;
  const facts: ActivityFacts = { record: { type: 'credit_note', id, number: credit_note_number }, currency };
  if (type === 'credit_note.issued')
    return { subjects: [{ id }, { id: invoice.id }], facts: { ...facts, amount: total, date: issued_on } };
  const allocation = type === 'credit_note.allocated' ? note.allocations.at(-1) : undefined;
  if (allocation) {
    const { amount, date } = allocation;
    return { subjects: [{ id }, { id: allocation.invoice.id }], facts: { ...facts, amount, date } };
  }
  const refund = type === 'credit_note.refunded' ? note.refunds.at(-1) : undefined;
  if (refund) return { subjects: [{ id }], facts: { ...facts, amount: refund.amount, date: refund.date } };
  return { subjects: [{ id, amount: sumOf(parts, currency) }, ...subjectsOf(parts, currency)], facts };
}

type Parts = NonNullable<ActivityHints['parts']>;

/** Returns each invoice once: a payment may be on one in several parts. */
function subjectsOf(parts: Parts, currency: string): Subject[] {
  const byInvoice = Map.groupBy(parts, ({ invoice_id }) => String(invoice_id));
  return [...byInvoice].map(([id, ones]) => ({ id, amount: sumOf(ones, currency) }));
}

/** Returns the sum in major units. */
function sumOf(parts: Parts, currency: string): number {
  const sum = sumBy(parts, ({ amount }) => amount);
  return fromMinor(sum, currency);
}

function aboutMessage({ id, document, subject, recipients, reminder }: MessageData, type: EventType) {
  // `reminder.sent` follows.
  const isRepeated = type === 'message.accepted' && reminder !== null;
  if (document.type === 'payment' || document.type === 'statement' || isRepeated) return undefined;
  const facts: ActivityFacts = {
    record: { type: 'message', id },
    text: subject,
    recipients: recipients.map(({ address, state }) => ({ address, state })),
    ...(reminder?.days == null ? {} : { days: reminder.days }),
  };
  return { subjects: [{ id: document.id }], facts };
}

function aboutPromise({ id, invoice, promised_for }: PromiseData): About {
  return { subjects: [{ id: invoice.id }], facts: { record: { type: 'promise', id }, date: promised_for } };
}

function aboutQuestion({ id, document, text, answer }: QuestionData, type: EventType): About {
  const words = type === 'question.answered' ? answer : text;
  return { subjects: [{ id: document.id }], facts: { record: { type: 'question', id }, text: words ?? '' } };
}

function aboutAnswer(data: PromiseData | QuestionData, type: EventType): About | undefined {
  if (type === 'client.promised') return aboutPromise(data as PromiseData);
  return type === 'client.asked' ? aboutQuestion(data as QuestionData, type) : undefined;
}
