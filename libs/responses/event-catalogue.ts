// Every type of event with what it means, an example of its body and a JSON Schema of it, made from event-types.ts and the responses of the API.
import Joi from 'joi';
import { BUDGET_KINDS, BUDGET_THRESHOLDS } from '../models/time/budget.ts';
import {
  EVENT_TYPES,
  type EventNoun,
  type EventType,
  eventDeclarations,
  nounOf,
} from '../models/webhooks/event-types.ts';
import { clientResponse } from './client.ts';
import { creditNoteResponse } from './credit-note.ts';
import { batchResponse } from './document-batch.ts';
import { documentLinkResponse } from './document-link.ts';
import { exampleId } from './example-ids.ts';
import { expenseResponse } from './expense.ts';
import { followUpSummaryResponse } from './follow-ups.ts';
import { hourPackageResponse } from './hour-package.ts';
import { invoiceResponse } from './invoice.ts';
import { itemResponse } from './item.ts';
import { exampleOf, type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { messageResponse } from './message.ts';
import { paymentResponse, recordedResponse } from './payment.ts';
import { projectResponse } from './project.ts';
import { promiseResponse } from './promise.ts';
import { questionResponse } from './question.ts';
import { quoteResponse } from './quote.ts';
import { recurringInvoiceResponse } from './recurring-invoice.ts';
import { exampleTime, id, words } from './response-fields.ts';
import { taskResponse } from './task.ts';
import { timeEntryResponse } from './time-entry.ts';
import { timerResponse } from './timer.ts';
import { webhookResponse } from './webhook.ts';

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

const ping = Joi.object({ webhook_id: id(), message: words() }).id('Ping').example({
  webhook_id: exampleId.webhooks,
  message: 'If you can read this and verify its signature, the endpoint works.',
});

/** The record that an event carries as the API returns it, by the noun of its type. */
const DATA: Readonly<Record<EventNoun, Joi.Schema>> = {
  client: clientResponse,
  project: projectResponse,
  task: taskResponse,
  time_entry: timeEntryResponse,
  timer: timerResponse,
  expense: expenseResponse,
  hour_package: hourPackageResponse,
  item: itemResponse,
  quote: quoteResponse,
  invoice: invoiceResponse,
  recurring_invoice: recurringInvoiceResponse,
  payment: paymentResponse,
  credit_note: creditNoteResponse,
  promise: promiseResponse,
  question: questionResponse,
  documents: batchResponse,
  message: messageResponse,
  link: documentLinkResponse,
  reminder: messageResponse,
  report: followUpSummaryResponse,
  endpoint: webhookResponse,
  ping,
};

/** Events that carry another shape, or more than the record. */
const OTHER_DATA: Readonly<Partial<Record<EventType, Joi.Schema>>> = {
  // One event for each invoice that is paid.
  'payment.recorded': recordedResponse,
  'project.budget_reached': withReached(projectResponse, 'ProjectBudgetReached'),
  'task.budget_reached': withReached(taskResponse, 'TaskBudgetReached'),
};

/** The record, and the threshold that its budget reached. */
function withReached<Shape>(record: Joi.ObjectSchema<Shape>, name: string) {
  const reached = Joi.object({
    budget: Joi.string()
      .valid(...BUDGET_KINDS)
      .required(),
    threshold: Joi.number()
      .valid(...BUDGET_THRESHOLDS)
      .required()
      .description('In percent'),
  });
  return record
    .keys({ reached: reached.required().meta({ schema: 'ReachedBudget' }) } as never)
    .id(name)
    .example({ ...(exampleOf(record) as object), reached: { budget: 'hours', threshold: 80 } }, { override: true });
}

let made: readonly CatalogueEntry[] | undefined;

/** Made when it is first asked for. */
export function eventCatalogue(): readonly CatalogueEntry[] {
  made ??= EVENT_TYPES.map(entryOf);
  return made;
}

function entryOf(type: EventType): CatalogueEntry {
  const data = OTHER_DATA[type] ?? DATA[nounOf(type)];
  const { description, example: changes } = eventDeclarations[type];
  const { examples: _shownWhole, ...dataSchema } = jsonSchemaOf(data, 'output');
  const fields = Object.entries({ ...(exampleOf(data) as object), ...changes });
  const example = Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  return {
    type,
    description,
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
