// The OpenAPI document keeps to what every generator of clients understands: one rule a test. Each was broken once, and a generator failed.
import { expect, test } from '@jest/globals';
import { currencyCodes } from '#libs/rules/money/money.ts';
import { makeOpenApi } from '../../../services/gateway/reference/openapi.ts';
import { routeTable } from '../../support/route-table.ts';

type Schema = Record<string, unknown>;

const document = await makeOpenApi(routeTable, '0.0.0');
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
const names = Object.keys(document.components.schemas);

/** Every schema of the document, with the path to it. Examples and the names of properties are no schemas. */
const schemas = schemasIn(document, '#');

function schemasIn(value: unknown, at: string, isNames = false): { at: string; schema: Schema }[] {
  if (Array.isArray(value)) return value.flatMap((inner, index) => schemasIn(inner, `${at}/${index}`));
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([name, part]) =>
    !isNames && ['example', 'examples', 'enum', 'required', 'default'].includes(name)
      ? []
      : schemasIn(part, `${at}/${name}`, !isNames && (name === 'properties' || name === 'schemas')),
  );
  return isNames ? inner : [{ at, schema: value as Schema }, ...inner];
}

function pathsWhere(isWrong: (schema: Schema, at: string) => boolean): string[] {
  return schemas.filter(({ schema, at }) => isWrong(schema, at)).map(({ at }) => at);
}

test('when an operation creates, then it has one success: generators take the first for the type of its result', () => {
  const several = operations.filter(
    ({ responses }) => Object.keys(responses).filter((status) => status.startsWith('2')).length !== 1,
  );

  expect(several.map(({ operationId }) => operationId)).toEqual([]);
});

test('when an operation supports dry runs, then its description states their response', () => {
  const dry = operations.filter(({ parameters }) => JSON.stringify(parameters ?? []).includes('"dry_run"'));

  expect(dry.length).toBeGreaterThan(5);
  for (const { description } of dry) expect(description).toMatch(/With `dry_run=true` the response is 200/);
});

test('when a field is a boolean, then it is no constant and no enum', () => {
  expect(pathsWhere(({ type, ...rest }) => type === 'boolean' && ('const' in rest || 'enum' in rest))).toEqual([]);
  expect(pathsWhere(({ const: constant }) => typeof constant === 'boolean')).toEqual([]);
});

test('when a field is a number, then it is no enum: generators of Java do not compile it', () => {
  const isNumber = (value: unknown) => typeof value === 'number';

  expect(pathsWhere(({ enum: values }) => Array.isArray(values) && values.some(isNumber))).toEqual([]);
});

test('when a field is a currency, then it has a pattern that all codes match: a list of them is another type in each release of ISO 4217', () => {
  const currencies = schemas.filter(({ at }) => /properties\/(?:invoice_)?currency$/.test(at));

  expect(currencies.length).toBeGreaterThan(30);
  for (const { at, schema } of currencies) {
    const { enum: values, pattern = 'none' } = schema as { enum?: string[]; pattern?: string };
    expect([at, values, currencyCodes.filter((code) => !new RegExp(pattern).test(code))]).toEqual([at, undefined, []]);
  }
});

test('when a schema has properties, then no conditions stand beside them', () => {
  const conditions = ['anyOf', 'allOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas'];

  expect(pathsWhere((schema) => 'properties' in schema && conditions.some((name) => name in schema))).toEqual([]);
});

test('when a body changes a record, then it requires at least one property', () => {
  const changes = Object.values(document.paths).flatMap(({ patch }) => (patch ? [patch] : []));

  expect(changes.length).toBeGreaterThan(7);
  for (const { operationId } of changes) {
    const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Body`;
    expect([name, document.components.schemas[name]]).toEqual([name, expect.objectContaining({ minProperties: 1 })]);
  }
});

test('when a property of a body is required, then it is not null: constructors of clients for Go would take a type of their own', () => {
  const bodies = operations.flatMap(
    ({ requestBody }) => JSON.stringify(requestBody ?? '').match(/schemas\/\w+/g) ?? [],
  );
  const awkward = bodies.flatMap((body) => {
    const { required = [], properties = {} } = document.components.schemas[body.slice('schemas/'.length)] as {
      required?: string[];
      properties?: Record<string, Schema>;
    };
    return required.filter((name) => [properties[name]?.['type']].flat().includes('null')).map((name) => [body, name]);
  });

  expect(bodies.length).toBeGreaterThan(50);
  expect(awkward).toEqual([]);
});

test('when a tag is used, then it has a description, and operations share none with webhooks', () => {
  const ours = new Set(operations.flatMap(({ tags }) => tags));
  const theirs = new Set(Object.values(document.webhooks).flatMap(({ post }) => post.tags));

  expect([...theirs].filter((tag) => ours.has(tag))).toEqual([]);
  expect(document.tags.map(({ name }) => name).toSorted()).toEqual([...ours, ...theirs].toSorted());
  expect(document.tags.filter(({ description }) => !description)).toEqual([]);
});

test('when schemas get names, then none is what a generator calls its constructors and wrappers', () => {
  expect(names.filter((name) => /^(?:New|Nullable)[A-Z]|(?:WithDefaults|Ref)$/.test(name))).toEqual([]);
  const byCase = Map.groupBy(names, (name) => name.toLowerCase());
  expect([...byCase.values()].filter((same) => same.length > 1)).toEqual([]);
});

test('when documents have lines, then these have one named schema for input, one for responses, these two for credit notes, and one for the PDF tool', () => {
  const lines = schemas.flatMap(({ schema }) => {
    const { line_items, lineItems } = (schema['properties'] ?? {}) as Record<string, { items?: object } | undefined>;
    return [line_items, lineItems].flatMap((list) => (list ? [JSON.stringify(list.items)] : []));
  });

  expect([...new Set(lines)].toSorted()).toEqual(
    ['CreditLine', 'CreditLineInput', 'LineItem', 'LineItemInput', 'PdfLineItem'].map(
      (name) => `{"$ref":"#/components/schemas/${name}"}`,
    ),
  );
});

test('when a list holds objects, then these are of a named schema', () => {
  expect(pathsWhere(({ properties }, at) => properties !== undefined && at.endsWith('/items'))).toEqual([]);
});

test('when an object accepts any names, then it declares their values', () => {
  const silent = ({ type, ...rest }: Schema) =>
    type === 'object' && !('properties' in rest) && !('additionalProperties' in rest);

  expect(pathsWhere((schema) => silent(schema) || 'patternProperties' in schema)).toEqual([]);
});

test('when a record holds the summary of another one, then it is a named schema', () => {
  const inline = pathsWhere(({ properties }, at) => {
    const isField = /\/(?:client|project|task)$/.test(at);
    return isField && properties !== undefined;
  });

  expect(inline).toEqual([]);
});

test('when a caller sends a value of an enum, then null is none of them: generators would make a union of two classes', () => {
  const sent = (isWrong: (values: unknown[]) => boolean) =>
    pathsWhere(
      ({ enum: values }, at) => /schemas\/\w+(?:Body|Input)\b/.test(at) && Array.isArray(values) && isWrong(values),
    );

  expect(sent((values) => values.includes('Draft'))).not.toEqual([]);
  expect(sent((values) => values.includes(null))).toEqual([]);
});

test('when a field may be null, then it has a type besides, and null is one member of a union of two', () => {
  const alone = pathsWhere(({ type }, at) => type === 'null' && !/\/anyOf\/1$/.test(at));
  const wide = pathsWhere(({ anyOf }) => {
    const members = (anyOf ?? []) as Schema[];
    return members.some(({ type }) => type === 'null') && (members.length !== 2 || !('$ref' in (members[0] ?? {})));
  });

  expect([alone, wide]).toEqual([[], []]);
});

test('when fields of a body can replace others, then these stay required: generated constructors have a parameter for each', () => {
  const { required } = document.components.schemas['CreateTimeEntryBody'] as { required?: string[] };

  expect(required).toEqual(['date', 'hours', 'project_id']);
});

test('when an operation returns a file, then it is binary', () => {
  const files = operations.flatMap(({ responses }) => {
    const { content = {} } = (responses['200'] ?? {}) as { content?: Record<string, { schema: object }> };
    return Object.entries(content).filter(([type]) => type !== 'application/json');
  });

  expect(files.map(([type]) => type).filter((type) => type === 'application/zip')).toHaveLength(1);
  expect(files.length).toBeGreaterThan(4);
  for (const [, { schema }] of files) expect(schema).toEqual({ type: 'string', format: 'binary' });
});

test('when something has an example, then it is in the one form that openapi-generator accepts without a warning', () => {
  const { schemas: _named, ...parts } = document.components;
  const inForms = JSON.stringify([document.paths, parts]).match(/"examples":\{/g);
  const beside = operations.flatMap(({ operationId, requestBody }) => {
    const { content = {} } = (requestBody ?? {}) as { content?: Record<string, object> };
    return Object.values(content).some((media) => 'example' in media) ? [operationId] : [];
  });

  expect([inForms, beside]).toEqual([null, []]);
});

test('when an operation is a call of Billhook to a receiver, then it is marked, so that openapi-generator writes no method for it', () => {
  const unmarked = Object.values(document.webhooks).filter(({ post }) => !post['x-internal']);

  expect(unmarked.map(({ post }) => post.operationId)).toEqual([]);
});

test('when a value is a decimal number, then it is a double: money loses its cents in the single precision of generated Go', () => {
  const isNumber = ({ type }: Schema) => [type].flat().includes('number');

  expect(pathsWhere(isNumber).length).toBeGreaterThan(50);
  expect(pathsWhere((schema) => isNumber(schema) && schema['format'] !== 'double')).toEqual([]);
});
