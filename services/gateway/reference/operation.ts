// One row of the table of routes as an OpenAPI operation.
import type Joi from 'joi';
import { exampleIdFor } from '../http/example-ids.ts';
import { isConditional, isOncePerKey, type Route } from '../http/route.ts';
import { exampleOf, type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { failuresOf } from './responses.ts';

/** Adds a schema to the components and returns the reference to it. */
export type Register = (name: string, schema: JsonSchema) => JsonSchema;

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters?: unknown[];
  requestBody?: unknown;
  responses: Record<string, unknown>;
}

export function operationOf(row: Route, register: Register): Operation {
  const parameters = parametersOf(row);
  return {
    operationId: row.operation,
    summary: row.summary,
    description: [...(row.description ? [row.description] : []), `Scope: \`${row.scope}\`.`].join('\n\n'),
    tags: [tagOf(row)],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(row.body ? { requestBody: requestBodyOf(row, row.body, register) } : {}),
    responses: {
      ...successOf(row, register),
      ...(isRevalidated(row) ? { 304: { $ref: '#/components/responses/NotModified' } } : {}),
      ...failuresOf(row),
    },
  };
}

/** `/api/v1/time-entries/{id}` belongs to `Time entries`. */
export function tagOf({ path }: Route): string {
  const segment = path.split('/')[3] ?? 'api';
  const words = segment === 'generate-pdf' ? 'PDF tool' : segment.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function parametersOf(row: Route): unknown[] {
  const names = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const query = row.query ? jsonSchemaOf(row.query, 'input') : {};
  const required = (query['required'] ?? []) as string[];
  return [
    ...names.map((name) => pathParameter(row, name)),
    ...Object.entries((query['properties'] ?? {}) as Record<string, JsonSchema>).map(([name, schema]) => {
      const { description, ...rest } = schema;
      return {
        name,
        in: 'query',
        required: required.includes(name),
        ...(description ? { description } : {}),
        schema: rest,
      };
    }),
    ...(isOncePerKey(row) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ...(isConditional(row) ? [{ $ref: '#/components/parameters/IfMatch' }] : []),
    ...(isRevalidated(row) ? [{ $ref: '#/components/parameters/IfNoneMatch' }] : []),
  ];
}

function pathParameter(row: Route, name: string) {
  const own = row.parameters?.[name];
  const { description, examples, ...schema } = own ? jsonSchemaOf(own, 'input') : idParameter;
  return {
    name,
    in: 'path',
    required: true,
    description,
    schema,
    example: own ? (examples as unknown[])[0] : exampleIdFor(row.path),
  };
}

const idParameter: JsonSchema = { type: 'string', format: 'uuid', description: 'UUID of the record' };

function requestBodyOf(row: Route, body: Joi.ObjectSchema, register: Register) {
  const written = jsonSchemaOf(body, 'input');
  const { examples: _shownBeside, ...schema } = written;
  // A change needs at least one field that the operation knows.
  const known = Object.keys((schema['properties'] ?? {}) as object).map((name) => ({ required: [name] }));
  const example = exampleOf(body);
  return {
    required: ((schema['required'] ?? []) as string[]).length > 0 || row.method === 'patch',
    content: {
      'application/json': {
        schema: register(`${pascal(row.operation)}Body`, row.method === 'patch' ? { ...schema, anyOf: known } : schema),
        ...(example === undefined ? {} : { example }),
      },
    },
  };
}

function successOf(row: Route, register: Register): Record<string, unknown> {
  const status = row.status ?? (row.method === 'post' && !row.produces ? 201 : 200);
  const headers = {
    'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
    RateLimit: { $ref: '#/components/headers/RateLimit' },
    'RateLimit-Policy': { $ref: '#/components/headers/RateLimit-Policy' },
    ...(isList(row) ? { Link: { $ref: '#/components/headers/Link' } } : {}),
    ...(status === 202 ? { Location: { $ref: '#/components/headers/Location' } } : {}),
    ...(isTagged(row) ? { ETag: { $ref: '#/components/headers/ETag' } } : {}),
  };
  if (row.produces) {
    const schema = { type: 'string', contentMediaType: row.produces };
    return { [status]: { description: 'The file', headers, content: { [row.produces]: { schema } } } };
  }
  const content = (schema: JsonSchema) => ({ 'application/json': { schema } });
  const isDry = row.query !== undefined && 'dry_run' in (row.query.describe()['keys'] ?? {});
  const dry = { description: 'A dry run: what would have been stored', headers, content: content(dryEnvelopeOf(row)) };
  return {
    ...(isDry ? { 200: dry } : {}),
    [status]: { description: 'Success', headers, content: content(envelopeOf(row, register)) },
  };
}

/** What was not stored has no id. */
function dryEnvelopeOf(row: Route): JsonSchema {
  const data = row.answers ? jsonSchemaOf(row.answers, 'output') : { type: 'object', properties: {} };
  const { examples: _hasAnId, ...shape } = data;
  const properties = { ...(shape['properties'] as object), id: { type: 'null' } };
  return object({ success: { type: 'boolean', const: true }, data: { ...shape, properties } });
}

/** All that is one thing, but an archive, which is made while it is sent. */
function isTagged(row: Route): boolean {
  return row.method === 'get' && !isList(row) && row.produces !== 'application/zip';
}

/** What the tag leaves out may be new to who has the rest. */
function isRevalidated(row: Route): boolean {
  return isTagged(row) && !row.untagged;
}

export function isList(row: Route): boolean {
  return row.method === 'get' && row.query !== undefined && 'limit' in (row.query.describe()['keys'] ?? {});
}

function envelopeOf(row: Route, register: Register): JsonSchema {
  const success = { success: { type: 'boolean', const: true } };
  if (row.method === 'delete' && !row.answers) {
    const message = { type: 'string', ...(row.message ? { const: row.message } : {}) };
    return object({ ...success, message });
  }
  const data = dataOf(row, register);
  if (isList(row)) {
    const pagination = { $ref: '#/components/schemas/Pagination' };
    const besides = Object.entries(row.besides ?? {}).map(([name, shape]) => [name, jsonSchemaOf(shape, 'output')]);
    const list = row.isPageOfOne ? data : { type: 'array', items: data };
    return object({ data: list, pagination, ...(Object.fromEntries(besides) as Record<string, JsonSchema>) });
  }
  return object(row.method === 'get' ? { data } : { ...success, data });
}

function dataOf(row: Route, register: Register): JsonSchema {
  if (!row.answers) return { type: 'object' };
  const schema = jsonSchemaOf(row.answers, 'output');
  const name = (row.answers.describe() as { flags?: { id?: string } }).flags?.id;
  return name ? register(name, schema) : schema;
}

function object(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: 'object', required: Object.keys(properties), properties };
}

function pascal(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
