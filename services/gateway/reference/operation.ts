// One row of the table of routes as an OpenAPI operation.
import { partition } from 'es-toolkit/array/partition';
import type Joi from 'joi';
import { exampleIdFor } from '#libs/responses/example-ids.ts';
import { type JsonSchema, jsonSchemaOf, type Register, schemaNameOf } from '#libs/responses/json-schema.ts';
import { ALWAYS, honoursIdempotencyKey, honoursIfMatch, isList, type Route } from '../http/route.ts';
import { fieldsOf } from '../http/shape-fields.ts';
import { describeFields } from './describe-fields.ts';
import { failuresOf } from './responses.ts';
import { tagOf } from './tags.ts';

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters?: unknown[];
  requestBody?: unknown;
  responses: Record<string, unknown>;
}

/** Its 200 is not among the responses: generated clients take the first success for the type of every result. */
const DRY_RUN =
  'With `dry_run=true` the response is 200 and `data` what would have been stored, with `id` (and a number) null.';

export function operationOf(row: Route, register: Register): Operation {
  const parameters = parametersOf(row);
  return {
    operationId: row.operation,
    summary: row.docs.title ?? row.docs.summary,
    description: [
      ...(row.docs.title ? [`${row.docs.summary}.`] : []),
      ...(row.docs.description ? [row.docs.description] : []),
      ...(knowsDryRun(row) ? [DRY_RUN] : []),
      scopesOf(row),
    ].join('\n\n'),
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

function scopesOf({ scope, alsoNeeds = {} }: Route): string {
  const others = Object.entries(alsoNeeds).map(
    ([name, when]) => `${when === ALWAYS ? 'Also' : `If ${when}, also`} \`${name}\`.`,
  );
  return [`Scope: \`${scope}\`.`, ...others].join(' ');
}

function parametersOf(row: Route): unknown[] {
  const names = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const query = row.query ? jsonSchemaOf(row.query, 'input') : {};
  const required = (query['required'] ?? []) as string[];
  const ofQuery = Object.entries((query['properties'] ?? {}) as Record<string, JsonSchema>).map(([name, schema]) => {
    const { description, examples, ...rest } = schema;
    return {
      name,
      in: 'query',
      required: required.includes(name),
      ...(description ? { description } : {}),
      schema: rest,
      ...(examples ? { example: (examples as unknown[])[0] } : {}),
    };
  });
  // Generated clients pass parameters by position: one that came later follows the headers.
  const [later, first] = partition(ofQuery, ({ name }) => isLater(row.query?.extract(name)));
  return [
    ...names.map((name) => pathParameter(row, name)),
    ...first,
    ...(honoursIdempotencyKey(row) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ...(honoursIfMatch(row) ? [{ $ref: '#/components/parameters/IfMatch' }] : []),
    ...(isRevalidated(row) ? [{ $ref: '#/components/parameters/IfNoneMatch' }] : []),
    ...later,
  ];
}

/** True for a parameter that an operation with parameters of its own in headers got after it was published. */
function isLater(parameter: Joi.Schema | undefined): boolean {
  const { metas = [] } = (parameter?.describe() ?? {}) as { metas?: { isLater?: boolean }[] };
  return metas.some((meta) => meta.isLater === true);
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
  // The schema carries its example: beside a schema, openapi-generator warns that it ignores one.
  const schema = jsonSchemaOf(body, 'input', register);
  const isChange = row.method === 'patch';
  return {
    required: ((schema['required'] ?? []) as string[]).length > 0 || isChange,
    content: {
      'application/json': {
        // A change needs at least one field that the operation knows.
        schema: register(`${pascal(row.operation)}Body`, isChange ? { ...schema, minProperties: 1 } : schema),
      },
      ...(row.alsoReads ? { [row.alsoReads.type]: { schema: { type: 'string', format: 'binary' } } } : {}),
    },
  };
}

function successOf(row: Route, register: Register): Record<string, unknown> {
  const status = row.docs.status ?? (row.method === 'post' && !row.produces ? 201 : 200);
  const headers = {
    'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
    RateLimit: { $ref: '#/components/headers/RateLimit' },
    'RateLimit-Policy': { $ref: '#/components/headers/RateLimit-Policy' },
    ...(isList(row) ? { Link: { $ref: '#/components/headers/Link' } } : {}),
    ...(status === 202 ? { Location: { $ref: '#/components/headers/Location' } } : {}),
    ...(isTagged(row) ? { ETag: { $ref: '#/components/headers/ETag' } } : {}),
  };
  const file = { schema: { type: 'string', format: 'binary' } };
  if (row.produces) {
    const content = { [row.produces]: file, ...(row.alsoPrints ? { [row.alsoPrints]: file } : {}) };
    return { [status]: { description: 'The file', headers, content } };
  }
  const content = {
    'application/json': envelopeOf(row, register),
    ...(row.alsoWrites ? { [row.alsoWrites]: file } : {}),
  };
  return { [status]: { description: 'Success', headers, content } };
}

function knowsDryRun({ query }: Route): boolean {
  return fieldsOf(query).has('dry_run');
}

/** True when the response has an ETag. Lists have none, nor has an archive, which is made while it is sent. */
function isTagged(row: Route): boolean {
  return row.method === 'get' && !isList(row) && row.produces !== 'application/zip';
}

/** True when a caller may revalidate its copy by ETag. A tag that leaves fields out cannot tell that those have changed. */
function isRevalidated(row: Route): boolean {
  return isTagged(row) && !row.omitFromTag;
}

function envelopeOf(row: Route, register: Register): { schema: JsonSchema; example?: object } {
  if (row.method === 'delete' && !row.docs.response) {
    return { schema: register('Deleted', deleted), example: { success: true, message: row.docs.message } };
  }
  const data = dataOf(row, register);
  if (isList(row)) {
    const pagination = { $ref: '#/components/schemas/Pagination' };
    const alongside = Object.entries(row.docs.alongside ?? {}).map(([name, shape]) => [
      name,
      jsonSchemaOf(shape, 'output'),
    ]);
    const list = row.docs.isPageOfOne ? data : { type: 'array', items: data };
    return {
      schema: object({ data: list, pagination, ...(Object.fromEntries(alongside) as Record<string, JsonSchema>) }),
    };
  }
  if (row.method === 'get') return { schema: object({ data }) };
  return {
    schema: object({ success, data }, { ...(row.body ? { ignored } : {}), ...(row.docs.warns ? { warnings } : {}) }),
  };
}

/** Not a constant: generators make a class, or code that does not compile, of a boolean with one value. */
const success = { type: 'boolean', description: 'Always true' };
const ignored: JsonSchema = {
  type: 'array',
  items: { type: 'string' },
  description: 'Names in the body that the operation does not know, at most 20; absent when there were none',
};
const warnings: JsonSchema = {
  type: 'array',
  items: { $ref: '#/components/schemas/FieldProblem' },
  description: 'What you should know of what was done all the same; absent when there is nothing',
};
const deleted = object({ success, message: { type: 'string', description: 'What was deleted, in words' } });

function dataOf(row: Route, register: Register): JsonSchema {
  if (!row.docs.response) return { type: 'object' };
  const schema = jsonSchemaOf(row.docs.response, 'output', register);
  const name = schemaNameOf(row.docs.response);
  return name ? register(name, schema) : schema;
}

/** @param optional properties that may be absent. */
function object(properties: Record<string, JsonSchema>, optional: Record<string, JsonSchema> = {}): JsonSchema {
  const schema = { type: 'object', required: Object.keys(properties), properties: { ...properties, ...optional } };
  return describeFields(schema, '');
}

function pascal(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
