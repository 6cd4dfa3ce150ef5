// The `webhooks` of the OpenAPI document: what Billhook sends, as the receiver sees it.
import type { EventType } from '#libs/models/webhooks/event-types.ts';
import { bodySchema, type CatalogueEntry } from '#libs/responses/event-catalogue.ts';
import { type JsonSchema, jsonSchemaOf, type Register, schemaNameOf } from '#libs/responses/json-schema.ts';
import { EVENT_DELIVERIES } from './tags.ts';

/** An OpenAPI operation that the receiver serves. */
export interface WebhookCall {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: [];
  'x-internal': true;
  parameters: object[];
  requestBody: { required: true; content: { 'application/json': { schema: JsonSchema; example: object } } };
  responses: Record<string, object>;
}

/** @returns a path item for each type of event, by its name. */
export function webhooksOf(
  catalogue: readonly CatalogueEntry[],
  register: Register,
): Record<string, { post: WebhookCall }> {
  return Object.fromEntries(catalogue.map((entry) => [entry.type, { post: callOf(entry, register) }]));
}

function callOf({ type, description, example, data }: CatalogueEntry, register: Register): WebhookCall {
  const carried = register(schemaNameOf(data) ?? 'Data', jsonSchemaOf(data, 'output', register));
  const name = `${pascal(type)}Event`;
  return {
    operationId: `on${pascal(type)}`,
    summary: `Receive ${type}`,
    description,
    tags: [EVENT_DELIVERIES],
    // The signature is the proof; see the headers.
    security: [],
    // A client of the API never makes this call. openapi-generator writes it all the same, in Python as code that does not compile.
    'x-internal': true,
    parameters: HEADERS.map((header) => ({ $ref: `#/components/parameters/${header}` })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: register(name, bodySchema(type, carried)), example } },
    },
    responses: {
      204: { description: 'Taken. Any 2xx will do; respond within 15 seconds and work later' },
      410: { description: 'Gone: the endpoint is disabled' },
      503: { description: 'Not now: it is tried again, not before `Retry-After`. So is any other failure' },
    },
  };
}

const HEADERS = ['WebhookId', 'WebhookTimestamp', 'WebhookSignature'] as const;

const header = (name: string, description: string, schema: object, example: string) => {
  return { name, in: 'header', required: true, description, schema, example };
};

/** The headers of every call, after Standard Webhooks 1.0.0. */
export const webhookHeaders = {
  WebhookId: header(
    'webhook-id',
    "The event's id, the same on every retry and replay: take each once",
    { type: 'string', format: 'uuid' },
    '019a1f00-0000-7000-8000-00000000e4e0',
  ),
  WebhookTimestamp: header(
    'webhook-timestamp',
    'When this attempt was signed, in seconds since 1970',
    { type: 'string', pattern: '^[0-9]+$' },
    '1793611800',
  ),
  WebhookSignature: header(
    'webhook-signature',
    '`v1,` and the Base64 of HMAC-SHA256 over `id.timestamp.body`; separated by blanks, one for each secret while rotated ones overlap',
    { type: 'string' },
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
};

/** `time_entry.created` → `TimeEntryCreated`. */
function pascal(type: EventType): string {
  return type.replaceAll(/(?:^|[._])(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
