// Every type of event with its meaning and its example. The catalogue in the API's reference is made from this table.

interface Declaration {
  description: string;
  /**
   * Fields in which the example differs from the one of its shape in libs/responses. A value of undefined leaves a field
   * out.
   */
  example?: Readonly<Record<string, unknown>>;
}

const exampleTime = '2026-11-02T09:30:00.000Z';
/** The ids in these examples are those of the examples of the records. */
const exampleInvoice = { id: '019a1f00-0000-7000-8000-0000000017ce', invoice_number: 'INV-0042' };
const releasedAllocation = {
  id: '019a1f00-0000-7000-8000-0000000a110c',
  invoice: exampleInvoice,
  amount: 1356.6,
  refunded: 0,
  date: '2026-11-20',
  released_on: '2026-11-21',
};

const creditedPart = {
  id: '019a1f00-0000-7000-8000-0000000a110c',
  invoice: exampleInvoice,
  amount: 600,
  date: '2026-11-20',
  released_on: null,
};
const creditedElsewhere = {
  ...creditedPart,
  id: '019a1f00-0000-7000-8000-0000000a110d',
  invoice: { id: '019a1f00-0000-7000-8000-0000000017cf', invoice_number: 'INV-0043' },
  amount: 756.6,
};

const exampleAttempt = { at: exampleTime, duration_ms: 412, code: '250', text: '2.0.0 Ok: queued as 4F1B2' };
const endedMail = { attempts: [exampleAttempt], next_attempt_at: null };
const acceptedMail = { ...endedMail, state: 'accepted', accepted_at: exampleTime };

/** The part before the dot is the noun. It decides which record the event carries, see responses/event-catalogue.ts. */
const declarations = {
  'client.created': {
    description: 'A client was created.',
  },
  'client.updated': {
    description: 'A field of a client was changed.',
  },
  'client.anonymised': {
    description:
      'What identifies a client was erased from its record and from the events before this one: erase it in your own records.',
    example: {
      name: 'Anonymised client',
      email: 'anonymised@example.invalid',
      company_name: undefined,
      anonymised_at: exampleTime,
    },
  },
  'client.promised': {
    description: 'A client named a day on its page on which it will pay an invoice; the data is the promise.',
  },
  'client.asked': {
    description: 'A client asked a question about a document on its page; the data is the question.',
  },
  'client.deleted': {
    description: 'A client was deleted; the data is its last state.',
  },
  'project.created': {
    description: 'A project was created.',
  },
  'project.updated': {
    description: 'A field of a project was changed, or what is used of its budget because time on it was.',
  },
  'project.budget_reached': {
    description:
      'So much of a budget of a project is used as `reached` says. Once for each threshold, and again after the budget was raised above it or set anew.',
  },
  'project.deleted': {
    description: 'A project was deleted; the data is its last state.',
  },
  'task.created': {
    description: 'A task was created.',
  },
  'task.updated': {
    description: 'A field of a task was changed, or its total because time on it was.',
  },
  'task.budget_reached': {
    description:
      'So much of the budget of a task is used as `reached` says. Once for each threshold, and again after the budget was raised above it or set anew.',
  },
  'task.deleted': {
    description: 'A task was deleted together with its time entries; the data is its last state.',
  },
  'time_entry.created': {
    description: 'Time was recorded.',
  },
  'time_entry.updated': {
    description: 'A field of a time entry was changed.',
  },
  'time_entry.deleted': {
    description: 'A time entry was deleted; the data is its last state.',
  },
  'timer.started': {
    description: 'A timer was started.',
  },
  'timer.updated': {
    description: 'A field of a running timer was changed.',
  },
  'timer.stopped': {
    description: 'A timer was stopped; `time_entry.created` of the entry that it became comes before.',
    example: {
      status: 'stopped',
      ended_at: '2026-11-02T11:45:00.000Z',
      time_entry_id: '019a1f00-0000-7000-8000-00000000e717',
    },
  },
  'timer.discarded': {
    description:
      'A running timer was discarded, or a stopped one was deleted with its entry; the data is its last state.',
  },
  'expense.created': {
    description: 'An expense was recorded.',
  },
  'expense.updated': {
    description: 'A field of an expense was changed, or it was put on an invoice or taken off.',
  },
  'expense.deleted': {
    description: 'An expense was deleted; the data is its last state.',
  },
  'hour_package.created': {
    description: 'A package of prepaid hours was created.',
  },
  'hour_package.updated': {
    description: 'A field of an hour package was changed.',
  },
  'hour_package.drawn': {
    description: 'An invoice draws hours from a package; the data is what is left of it.',
  },
  'hour_package.low': {
    description: 'No more hours are left of an hour package than its `low_hours`; once, until it gets more.',
  },
  'hour_package.released': {
    description: 'An invoice gave hours back to a package: it was deleted or cancelled, or its time changed.',
  },
  'hour_package.deleted': {
    description: 'An hour package was deleted; the data is its last state.',
  },
  'item.created': {
    description: 'An item of the catalogue was created.',
  },
  'item.updated': {
    description: 'A field of an item was changed. Documents that copied it stay as they are.',
  },
  'item.deleted': {
    description: 'An item was deleted; the data is its last state.',
  },
  'quote.created': {
    description: 'A quote was created.',
  },
  'quote.updated': {
    description: 'A field of a quote was changed.',
  },
  'quote.sent': {
    description: 'A quote became Sent.',
  },
  'quote.accepted': {
    description: 'A quote became Accepted.',
    example: { status: 'Accepted' },
  },
  'quote.declined': {
    description: 'A quote became Declined.',
    example: { status: 'Declined' },
  },
  'quote.converted': {
    description: 'An invoice was made of a quote or of a part of it; `invoices` has it.',
    example: {
      status: 'Accepted',
      invoices: [{ ...exampleInvoice, part: 'full', amount: 1140, corrected: 0, status: 'Draft' }],
      left_to_bill: 0,
      converted_at: exampleTime,
      acceptance: { by: 'client', at: exampleTime, withdrawn_at: null, changed: false },
    },
  },
  'quote.expired': {
    description:
      "The last day of a sent quote has passed on the account's calendar. Once, and again after its last day was moved or it was set to Sent again.",
    example: { status: 'Expired' },
  },
  'quote.deleted': {
    description: 'A draft quote was deleted; the data is its last state.',
    example: { status: 'Draft' },
  },
  'invoice.created': {
    description: 'An invoice was created.',
  },
  'invoice.updated': {
    description: 'A field of an invoice was changed.',
  },
  'invoice.sent': {
    description: 'An invoice became Sent.',
  },
  'invoice.paid': {
    description: 'An invoice became Paid.',
    example: { status: 'Paid', amount_paid: 1356.6, amount_due: 0, paid_on: '2026-11-20' },
  },
  'invoice.partially_paid': {
    description: 'Money came for an invoice, and something is still due.',
    example: { amount_paid: 600, amount_due: 756.6 },
  },
  'invoice.reopened': {
    description:
      'Something is due again of an invoice that was Paid: a payment was voided, released or refunded, or credit of a credit note was released.',
  },
  'invoice.written_off': {
    description: 'A part of what was due of an invoice was given up, and something is still due.',
    example: { amount_written_off: 56.6, amount_due: 1300 },
  },
  'invoice.overdue': {
    description:
      "The due date of a sent invoice has passed on the account's calendar. Once, and again after its due date was moved or it was set to Sent again.",
    example: { status: 'Overdue' },
  },
  'invoice.cancelled': {
    description: 'An invoice became Cancelled.',
    example: { status: 'Cancelled', amount_due: 0, cancelled_on: '2026-11-20' },
  },
  'invoice.deleted': {
    description: 'A draft invoice was deleted; the data is its last state.',
    example: { status: 'Draft' },
  },
  'recurring_invoice.created': {
    description: 'A recurring invoice was created.',
  },
  'recurring_invoice.updated': {
    description:
      'A field of a recurring invoice was changed, an occurrence was left out, or the draft that it made last was deleted.',
  },
  'recurring_invoice.paused': {
    description: 'A recurring invoice was paused: no invoices are made until it is resumed.',
    example: { status: 'Paused' },
  },
  'recurring_invoice.resumed': {
    description: 'A recurring invoice that was paused goes on.',
  },
  'recurring_invoice.ran': {
    description:
      'An invoice was made on schedule, or by hand; `last_invoice` names it, and its own events came before.',
  },
  'recurring_invoice.time_left': {
    description:
      'More work was due than one invoice takes: the oldest of it was billed, the rest is unbilled. `last_invoice` names the invoice.',
  },
  'recurring_invoice.caught_up': {
    description: 'Several occurrences were missed, and all of them are drafts now: look at them before you send them.',
  },
  'recurring_invoice.failed': {
    description: 'An invoice could not be made; `last_error` says why. It is tried again every day.',
    example: {
      last_error: {
        message: 'Client was anonymised: it takes no new projects and documents',
        at: exampleTime,
        code: 'client_anonymised',
        params: {},
        problems: [],
      },
    },
  },
  'recurring_invoice.ended': {
    description: 'The last occurrence was made or left out, or the recurring invoice was ended by hand.',
    example: { status: 'Ended', next_on: null, upcoming: [] },
  },
  'recurring_invoice.deleted': {
    description: 'A recurring invoice was deleted; the data is its last state. Its invoices stay.',
  },
  'payment.received': {
    description: 'A payment was booked. One `payment.recorded` follows for each invoice that it pays.',
  },
  'payment.overpaid': {
    description:
      'A client paid more on a page of Stripe than was due by then; the surplus is `unallocated`. `payment.received` came before.',
    example: { amount: 1400, unallocated: 1400, allocations: [] },
  },
  'payment.recorded': {
    description:
      'A payment, or credit of one, was put on an invoice; `invoice.paid` or `invoice.partially_paid` follows.',
  },
  'payment.updated': {
    description: 'The method, the reference or the note of a payment was changed.',
  },
  'payment.released': {
    description: 'Money that was on an invoice is credit of the client again.',
    example: { allocations: [releasedAllocation], unallocated: 1400 },
  },
  'payment.voided': {
    description: 'A payment that was entered by mistake was voided.',
    example: {
      status: 'Voided',
      void_reason: 'Entered twice',
      voided_on: '2026-11-21',
      allocations: [releasedAllocation],
      unallocated: 0,
    },
  },
  'payment.refunded': {
    description: 'Money of a payment went back to the client.',
    example: {
      refunds: [
        {
          id: '019a1f00-0000-7000-8000-0000000eef0d',
          amount: 43.4,
          date: '2026-11-21',
          method: 'bank_transfer',
          reference: 'Refund of the surplus',
          external_id: null,
          invoice: null,
        },
      ],
      unallocated: 0,
    },
  },
  'credit_note.issued': {
    description:
      'A credit note was drawn over an issued invoice; what became of the invoice follows, `invoice.cancelled` for example.',
  },
  'credit_note.allocated': {
    description: 'Credit of a credit note was put on an invoice.',
    example: { allocations: [creditedPart, creditedElsewhere], unallocated: 0 },
  },
  'credit_note.released': {
    description: 'Credit of a credit note that was on another invoice is credit of the client again.',
    example: {
      allocations: [creditedPart, { ...creditedElsewhere, released_on: '2026-11-21' }],
      unallocated: 756.6,
    },
  },
  'credit_note.refunded': {
    description: 'Credit of a credit note went back to the client.',
    example: {
      refunds: [
        {
          id: '019a1f00-0000-7000-8000-0000000eef0e',
          amount: 756.6,
          date: '2026-11-21',
          method: 'bank_transfer',
          reference: null,
          external_id: null,
        },
      ],
      refunded: 756.6,
      unallocated: 0,
    },
  },
  'promise.broken': {
    description:
      'The day on which a client promised to pay has passed, and something is still due. Once for each promise.',
    example: { status: 'broken' },
  },
  'question.answered': {
    description: 'A question of a client was answered.',
    example: { status: 'answered', answer: 'Yes, it is.', settled_at: exampleTime },
  },
  'question.closed': {
    description: 'A question of a client was closed without an answer.',
    example: { status: 'closed', settled_at: exampleTime },
  },
  'documents.completed': {
    description: 'A batch of documents is finished; the data names those that could not be printed.',
  },
  'message.accepted': {
    description: 'The mail server took a message for at least one of its recipients.',
    example: acceptedMail,
  },
  'message.failed': {
    description:
      'The mail server rejected a message for one of its recipients, or for all; `recipients` says for which.',
    example: {
      ...endedMail,
      state: 'failed',
      attempts: [{ ...exampleAttempt, code: '550 5.1.1', text: 'no such user' }],
    },
  },
  'message.unknown': {
    description:
      'It is not known whether the mail server took a message: the connection ended too early. It is sent once more, with the same `message_id`.',
    example: { state: 'unknown' },
  },
  'message.bounced': {
    description: 'A message came back from a recipient, whose address is suppressed from now on.',
    example: acceptedMail,
  },
  'message.complained': {
    description: 'A recipient reported a message as unwanted, and the address is suppressed from now on.',
    example: acceptedMail,
  },
  'link.opened': {
    description: 'A person looked at the page of a link, once a day. It is a hint: some mail scanners run scripts.',
    example: { url: null, opened_at: exampleTime, last_opened_at: exampleTime, opens: 1 },
  },
  'reminder.sent': {
    description:
      'The mail server took a reminder of an invoice; the data is the message, and `message.accepted` came before.',
    example: {
      ...acceptedMail,
      kind: 'reminder_1',
      subject: 'Reminder: invoice INV-0042',
      reminder: { days: 3, amount_due: 1356.6, currency: 'EUR' },
    },
  },
  'report.follow_ups': {
    description:
      'What the account may have forgotten, once a week on Monday in its time zone, and only if there is something; `GET /api/v1/reports/follow-ups` names the records.',
  },
  'endpoint.disabled': {
    description:
      'A webhook endpoint was disabled: its receiver answered 410, it failed for five days, or an operator disabled it.',
    example: { enabled: false, disabled_reason: 'gone', failing_since: exampleTime },
  },
  ping: {
    description: 'A test, sent to one endpoint on request.',
  },
} as const satisfies Record<string, Declaration>;

export type EventType = keyof typeof declarations;

/** The noun of a type: `client` of `client.created`. */
export type EventNoun = EventType extends infer Type ? (Type extends `${infer Noun}.${string}` ? Noun : Type) : never;

export const EVENT_TYPES = Object.keys(declarations) as readonly EventType[];

export const eventDeclarations: Readonly<Record<EventType, Declaration>> = declarations;

/** Acts of a client carry what it said, not the client. */
const CARRIED: Partial<Record<EventType, EventNoun>> = { 'client.promised': 'promise', 'client.asked': 'question' };

/** Returns the noun of the record that events of this type carry. */
export function nounOf(type: EventType): EventNoun {
  return CARRIED[type] ?? (type.split('.', 1)[0] as EventNoun);
}
