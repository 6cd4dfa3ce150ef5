// Every type of event with what it means, an example of its body and a JSON Schema of it, made from what the API answers.
import Joi from 'joi';
import { EVENT_TYPES, type EventType } from '#libs/models/webhooks/event.ts';
import { clientResponse } from '../clients/response.ts';
import { batchResponse } from '../documents/batch-view.ts';
import { exampleId } from '../fields/example-ids.ts';
import { exampleTime, id, words } from '../fields/response-fields.ts';
import { invoiceResponse, paymentResponse } from '../invoices/response.ts';
import { projectResponse } from '../projects/response.ts';
import { quoteResponse } from '../quotes/response.ts';
import { taskResponse } from '../tasks/response.ts';
import { timeEntryResponse } from '../time-entries/response.ts';
import { webhookResponse } from '../webhooks/response.ts';
import { exampleOf, type JsonSchema, jsonSchemaOf } from './json-schema.ts';

export interface CatalogueEntry {
  type: EventType;
  description: string;
  /** A body as webhooks carry it. */
  example: { type: EventType; timestamp: string; data: object };
  /** JSON Schema 2020-12 of the body. */
  schema: JsonSchema;
  /** The shape of its `data`, for the OpenAPI document. */
  data: Joi.Schema;
}

const DESCRIPTIONS: Record<EventType, string> = {
  'client.created': 'A client was created.',
  'client.updated': 'A field of a client was changed.',
  'client.anonymised':
    'What identifies a client was erased, from its record and from the events before this one: erase it in your own records.',
  'client.deleted': 'A client was deleted; the data is its last state.',
  'project.created': 'A project was created.',
  'project.updated': 'A field of a project was changed.',
  'project.deleted': 'A project was deleted; the data is its last state.',
  'task.created': 'A task was created.',
  'task.updated': 'A field of a task was changed, or its total because time on it was.',
  'task.deleted': 'A task was deleted together with its time entries; the data is its last state.',
  'time_entry.created': 'Time was recorded.',
  'time_entry.updated': 'A field of a time entry was changed.',
  'time_entry.deleted': 'A time entry was deleted; the data is its last state.',
  'quote.created': 'A quote was created.',
  'quote.updated': 'A field of a quote was changed.',
  'quote.sent': 'A quote became Sent.',
  'quote.accepted': 'A quote became Accepted.',
  'quote.declined': 'A quote became Declined.',
  'quote.expired':
    "The last day of a sent quote has passed on the account's calendar. Once, and again after its last day was moved or it was set to Sent again.",
  'quote.deleted': 'A draft quote was deleted; the data is its last state.',
  'invoice.created': 'An invoice was created.',
  'invoice.updated': 'A field of an invoice was changed.',
  'invoice.sent': 'An invoice became Sent.',
  'invoice.paid': 'An invoice became Paid.',
  'invoice.overdue':
    "The due date of a sent invoice has passed on the account's calendar. Once, and again after its due date was moved or it was set to Sent again.",
  'invoice.cancelled': 'An invoice became Cancelled.',
  'invoice.deleted': 'A draft invoice was deleted; the data is its last state.',
  'payment.recorded': 'What was still due of an invoice was paid; `invoice.paid` follows.',
  'documents.completed': 'A batch of documents is finished; what could not be printed is named in it.',
  'endpoint.disabled': 'A webhook endpoint was disabled: its receiver answered 410, or it failed for five days.',
  ping: 'A test, sent to one endpoint when somebody asks for it.',
};

const ping = Joi.object({ webhook_id: id(), message: words() }).id('Ping').example({
  webhook_id: exampleId.webhooks,
  message: 'If you can read this and verify its signature, the endpoint works.',
});

/** What an event carries, by the first word of its type: the record as the API answers it. */
const DATA: Record<string, Joi.Schema> = {
  client: clientResponse,
  project: projectResponse,
  task: taskResponse,
  time_entry: timeEntryResponse,
  quote: quoteResponse,
  invoice: invoiceResponse,
  payment: paymentResponse,
  documents: batchResponse,
  endpoint: webhookResponse,
  ping,
};

/** Where the example of a record would not fit what happened to it; undefined leaves a field out. */
const HAPPENED: Partial<Record<EventType, object>> = {
  'client.anonymised': {
    name: 'Anonymised client',
    email: 'anonymised@example.invalid',
    company_name: undefined,
    anonymised_at: exampleTime,
  },
  'quote.accepted': { status: 'Accepted' },
  'quote.declined': { status: 'Declined' },
  'quote.expired': { status: 'Expired' },
  'quote.deleted': { status: 'Draft' },
  'invoice.paid': { status: 'Paid', amount_paid: 1356.6, amount_due: 0 },
  'invoice.overdue': { status: 'Overdue' },
  'invoice.cancelled': { status: 'Cancelled', amount_due: 0 },
  'invoice.deleted': { status: 'Draft' },
  'endpoint.disabled': { enabled: false, disabled_reason: 'gone', failing_since: exampleTime },
};

let made: readonly CatalogueEntry[] | undefined;

/** Made when it is first asked for. */
export function eventCatalogue(): readonly CatalogueEntry[] {
  made ??= EVENT_TYPES.map(entryOf);
  return made;
}

function entryOf(type: EventType): CatalogueEntry {
  const data = DATA[type.split('.', 1)[0] as string];
  if (!data) throw new Error(`nothing is known of what ${type} carries`);
  const { examples: _shownWhole, ...dataSchema } = jsonSchemaOf(data, 'output');
  const fields = Object.entries({ ...(exampleOf(data) as object), ...HAPPENED[type] });
  const example = Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  return {
    type,
    description: DESCRIPTIONS[type],
    example: { type, timestamp: exampleTime, data: example },
    schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...bodySchema(type, dataSchema) },
    data,
  };
}

/** The body of every event, around the schema of what it carries. */
export function bodySchema(type: EventType, data: JsonSchema): JsonSchema {
  return {
    type: 'object',
    required: ['type', 'timestamp', 'data'],
    properties: {
      type: { type: 'string', const: type },
      timestamp: { type: 'string', format: 'date-time', description: 'When it happened' },
      data,
    },
  };
}
