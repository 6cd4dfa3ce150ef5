// The OpenAPI 3.1 document, made from the one table of routes and the joi inputs: it cannot say something else than the code does.
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { mapValues } from 'es-toolkit/object/mapValues';
import { ERRORS } from '#libs/errors/declared.ts';
import { PROBLEMS } from '#libs/errors/problems.ts';
import { eventCatalogue } from '#libs/responses/event-catalogue.ts';
import type { JsonSchema } from '#libs/responses/json-schema.ts';
import type { Route } from '../http/route.ts';
import { describeFields } from './describe-fields.ts';
import { introduction } from './introduction.ts';
import { type Operation, operationOf } from './operation.ts';
import { sharedResponses } from './responses.ts';
import { tagsOf } from './tags.ts';
import { type WebhookCall, webhookHeaders, webhooksOf } from './webhooks.ts';

export interface OpenApi {
  openapi: '3.1.1';
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } };
  servers: Array<{ url: string; description: string }>;
  security: object[];
  tags: Array<{ name: string; description: string }>;
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: WebhookCall }>;
  components: { schemas: Record<string, JsonSchema>; [part: string]: unknown };
}

/**
 * Makes the document. It takes half a second of processor time, and lets other requests in between two operations.
 * @param version of the API, as in package.json.
 */
export async function makeOpenApi(routes: readonly Route[], version: string): Promise<OpenApi> {
  const schemas: Record<string, JsonSchema> = { ...sharedSchemas };
  const paths: OpenApi['paths'] = {};
  for (const row of routes) {
    paths[row.path] = { ...paths[row.path], [row.method]: operationOf(row, register) };
    await setImmediate();
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Billhook',
      version,
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The gateway that serves this document' }],
    security: [{ apiKey: [] }],
    tags: tagsOf(routes),
    paths,
    webhooks: webhooksOf(eventCatalogue(), register),
    components: {
      securitySchemes,
      headers,
      parameters: { ...parameters, ...webhookHeaders },
      responses: sharedResponses,
      schemas: mapValues(schemas, describeFields),
    },
  };

  function register(name: string, schema: JsonSchema): JsonSchema {
    const known = schemas[name];
    if (known && !isDeepStrictEqual(known, schema)) throw new Error(`two shapes are called ${name}`);
    schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }
}

const text = { type: 'string' };
const count = (description: string) => ({ type: 'integer', minimum: 0, description });

/** Not an enumeration: generated clients would reject the code of an error that a later release adds. */
const code = {
  ...text,
  description:
    'What is wrong, for programs. It never changes; more codes may come. The guide [Errors](/docs/guides/errors) lists them with what to do',
  'x-codes': mapValues(ERRORS, ({ status, text, advice }) => ({ status, text, advice })),
};
const params: JsonSchema = {
  type: 'object',
  additionalProperties: true,
  description: 'The values that the text contains, by name: texts, numbers or lists of texts',
};
const coded = { code, params };
const named = {
  problems: {
    type: 'array',
    items: { $ref: '#/components/schemas/FieldProblem' },
    description: 'Each problem of a field, in the order in which they were found',
  },
};

const sharedSchemas: Record<string, JsonSchema> = {
  Failure: {
    type: 'object',
    required: ['error', 'code', 'params'],
    properties: { error: { ...text, description: 'What is wrong, in words' }, ...coded },
  },
  ValidationFailed: {
    type: 'object',
    required: ['error', 'code', 'params'],
    properties: {
      error: text,
      details: {
        type: 'object',
        description: 'Field name to messages',
        additionalProperties: { type: 'array', items: text },
      },
      ...coded,
      ...named,
    },
  },
  ValidationFailedAsList: {
    type: 'object',
    required: ['error', 'code', 'params'],
    properties: { error: text, details: { type: 'array', items: text }, ...coded, ...named },
  },
  Pagination: {
    type: 'object',
    required: ['total', 'limit', 'offset'],
    properties: {
      total: count('Records that match the filters'),
      limit: count('Page size used'),
      offset: count('Offset used'),
    },
  },
  FieldProblem: {
    type: 'object',
    required: ['field', 'code', 'message', 'params'],
    properties: {
      field: { ...text, description: 'The name of the field, or its path with dots: `line_items.0.rate`' },
      code: {
        ...text,
        description:
          'What is wrong with the field. More codes may come. The guide [Errors](/docs/guides/errors) lists them',
        'x-codes': mapValues(PROBLEMS, (problem) => problem.text),
      },
      message: { ...text, description: 'The same in words, as in `details`' },
      params,
    },
  },
};

const securitySchemes = {
  apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'bh_live_…', description: 'An API key of the account' },
};

const header = (description: string, schema: JsonSchema = text) => ({ description, schema });
const headers = {
  'X-Request-Id': header("The request's id in the log: the caller's own, or a new one"),
  RateLimit: header('What is left of the limit and when it is full again (IETF draft 8)'),
  'RateLimit-Policy': header('The limits that hold for the key (IETF draft 8)'),
  'Retry-After': header('Seconds to wait', { type: 'integer', minimum: 0 }),
  'WWW-Authenticate': header('`Bearer`'),
  Link: header('`first`, `prev`, `next` and `last` page, as far as they exist (RFC 8288)'),
  Location: header('Where to ask how far it is'),
  ETag: header('Names this state of the record, for `If-Match`'),
};

const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Makes a retry safe: within 24 hours the same key gets the response to the first request',
    schema: { ...text, pattern: '^[!-~]{1,255}$' },
    example: 'order-1017',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'The `ETag` of the record as you know it; 412 when it has changed since',
    schema: text,
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of what you have; 304 without it when it is still the same',
    schema: text,
  },
};
