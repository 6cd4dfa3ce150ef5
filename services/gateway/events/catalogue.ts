// Every type of event with what it means, an example of its body and a JSON Schema of it.
import { EVENT_TYPES, type EventType } from '#libs/models/event.ts';
import { exampleClient, exampleProject, exampleTime } from '../http/answer-shapes.ts';
import { exampleId } from '../http/example-ids.ts';

const DESCRIPTIONS: Record<EventType, string> = {
  'client.created': 'A client was created.',
  'client.updated': 'A field of a client was changed.',
  'client.deleted': 'A client was deleted; the data is its last state.',
  'project.created': 'A project was created.',
  'project.updated': 'A field of a project was changed.',
  'project.deleted': 'A project was deleted; the data is its last state.',
  'task.created': 'A task was created.',
  'task.updated': 'A field of a task was changed.',
  'task.deleted': 'A task was deleted together with its time entries; the data is its last state.',
  'time_entry.created': 'Time was recorded.',
  'time_entry.updated': 'A field of a time entry was changed.',
  'time_entry.deleted': 'A time entry was deleted; the data is its last state.',
  'quote.created': 'A quote was created.',
  'quote.updated': 'A field of a quote was changed.',
  'quote.sent': 'A quote became Sent.',
  'quote.accepted': 'A quote became Accepted.',
  'quote.declined': 'A quote became Declined.',
  'quote.expired': "The last day of a sent quote has passed on the account's calendar. Once per quote.",
  'invoice.created': 'An invoice was created.',
  'invoice.updated': 'A field of an invoice was changed.',
  'invoice.sent': 'An invoice became Sent.',
  'invoice.paid': 'An invoice became Paid.',
  'invoice.overdue':
    "The due date of a sent invoice has passed on the account's calendar. Once per invoice and due date.",
  'invoice.cancelled': 'An invoice became Cancelled.',
  'invoice.deleted': 'A draft invoice was deleted; the data is its last state.',
  'payment.recorded': 'A payment was recorded on an invoice.',
  'documents.completed': 'A batch of documents is finished; what could not be printed is named in it.',
  'endpoint.disabled': 'A webhook endpoint was disabled: its receiver answered 410, or it failed for five days.',
  ping: 'A test, sent to one endpoint when somebody asks for it.',
};

const times = { created_at: exampleTime, updated_at: exampleTime };
const money = { subtotal: 1_200, tax_amount: 240, total: 1_440, amount_paid: 0, amount_due: 1_440 };
const document = {
  amount: 1_200,
  currency: 'EUR',
  status: 'Sent',
  tax_rate: 20,
  description: 'Design of the engine',
  line_items: [{ description: 'Design', qty: '10', rate: '120', discount: '0' }],
  client: exampleClient,
  project: exampleProject,
  ...money,
  ...times,
};

/** The data of an event by the first word of its type. */
const EXAMPLES: Record<string, Record<string, unknown>> = {
  client: { ...exampleClient, status: 'invited', ...times },
  project: { ...exampleProject, status: 'In Progress', client: exampleClient, ...times },
  task: {
    id: exampleId.tasks,
    name: 'Draw the mill',
    description: null,
    status: 'todo',
    estimated_hours: 8,
    billable: true,
    rate: 120,
    total_seconds: 5_400,
    phase_id: null,
    project: exampleProject,
    ...times,
  },
  time_entry: {
    id: exampleId['time-entries'],
    date: '2026-11-02',
    hours: 1.5,
    description: 'First sketch',
    hourly_rate: 120,
    task_id: exampleId.tasks,
    task: { id: exampleId.tasks, name: 'Draw the mill' },
    project: exampleProject,
    ...times,
  },
  quote: { id: exampleId.quotes, quote_number: 'QUO-0001', expires_at: '2026-12-02', due_date: null, ...document },
  invoice: { id: exampleId.invoices, invoice_number: 'INV-0001', due_date: '2026-12-02', ...document },
  payment: {
    id: exampleId.payments,
    invoice_id: exampleId.invoices,
    amount: 1_440,
    currency: 'EUR',
    date: '2026-11-20',
    created_at: exampleTime,
  },
  endpoint: {
    id: exampleId.webhooks,
    url: 'https://example.com/hooks/billing',
    events: ['*'],
    description: null,
    enabled: false,
    disabled_reason: 'gone',
    failing_since: null,
    ...times,
  },
  ping: {
    webhook_id: exampleId.webhooks,
    message: 'If you can read this and verify its signature, the endpoint works.',
  },
};

export const catalogue = EVENT_TYPES.map((type) => {
  const data = EXAMPLES[type.split('.', 1)[0] as string] ?? {};
  const example = { type, timestamp: exampleTime, data };
  return {
    type,
    description: DESCRIPTIONS[type],
    example,
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['type', 'timestamp', 'data'],
      properties: {
        type: { const: type },
        timestamp: { type: 'string', format: 'date-time', description: 'When it happened' },
        data: { type: 'object', description: 'The record as the API returned it', properties: propertiesOf(data) },
      },
    },
  };
});

/** Answers may grow and texts may be absent: the schema says of what type a field is when it is there. */
function propertiesOf(example: Record<string, unknown>): Record<string, object> {
  return Object.fromEntries(Object.entries(example).map(([name, value]) => [name, schemaOf(name, value)]));
}

function schemaOf(name: string, value: unknown): object {
  if (Array.isArray(value)) return { type: 'array', items: value.length > 0 ? schemaOf('', value[0]) : {} };
  // An example can show null or a value, the schema says both.
  if (value === null) return { type: ['string', 'number', 'null'] };
  if (typeof value === 'object') {
    const isEmbedded = name === 'client' || name === 'project' || name === 'task';
    return {
      type: isEmbedded ? ['object', 'null'] : 'object',
      properties: propertiesOf(value as Record<string, unknown>),
    };
  }
  if (name === 'id') return { type: 'string', format: 'uuid' };
  if (name.endsWith('_at') && value === exampleTime) return { type: 'string', format: 'date-time' };
  return { type: [typeof value, 'null'] };
}
