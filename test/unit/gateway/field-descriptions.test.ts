// Every field and parameter of the OpenAPI document says what it is.
import { expect, test } from '@jest/globals';
import { FIELD_DESCRIPTIONS } from '../../../services/gateway/reference/field-descriptions.ts';
import { makeOpenApi } from '../../../services/gateway/reference/openapi.ts';
import { routes } from '../../../services/gateway/routes.ts';

const document = await makeOpenApi(routes, '1.0.0');

interface Field {
  /** The name of the schema or the operation, and of the fields around it. */
  path: string;
  name: string;
  description: unknown;
}

/** Every property of every schema below a part of the document, whatever the keyword that leads there. */
function fieldsIn(part: unknown, path: string): Field[] {
  if (typeof part !== 'object' || part === null) return [];
  const { properties = {}, example: _example, examples: _examples, ...rest } = part as Record<string, object>;
  const own = Object.entries(properties as Record<string, { description?: unknown }>);
  return [
    ...own.map(([name, { description }]) => ({ path, name, description })),
    ...own.flatMap(([name, schema]) => fieldsIn(schema, `${path}.${name}`)),
    ...Object.values(rest).flatMap((value) => fieldsIn(value, path)),
  ];
}

const { schemas, parameters } = document.components;
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
const fields = [
  ...Object.entries(schemas).flatMap(([name, schema]) => fieldsIn(schema, name)),
  ...operations.flatMap(({ operationId, ...operation }) => fieldsIn(operation, operationId)),
];

test('when the document is read, then every property has a description', () => {
  expect(fields.length).toBeGreaterThan(1_500);
  const silent = fields.filter(({ description }) => typeof description !== 'string' || description.trim() === '');
  expect([...new Set(silent.map(({ path, name }) => `${path}.${name}`))]).toEqual([]);
});

test('when the document is read, then every parameter has a description', () => {
  type Parameter = { name?: string; description?: string; $ref?: string };
  const given = [
    ...operations.flatMap(({ operationId, parameters: own = [] }) =>
      (own as Parameter[]).map((parameter) => ({ where: operationId, ...parameter })),
    ),
    ...Object.values(parameters as Record<string, Parameter>).map((parameter) => ({ where: 'shared', ...parameter })),
  ].filter(({ $ref }) => $ref === undefined);
  expect(given.length).toBeGreaterThan(100);
  expect(given.filter(({ description }) => !description).map(({ where, name }) => `${where} ${name}`)).toEqual([]);
});

test('when the table has a description, then a field of the document uses it', () => {
  const isUsed = ([key, text]: [string, string]) =>
    fields.some(({ path, name, description }) => description === text && (key === name || key === `${path}.${name}`));
  expect(Object.entries(FIELD_DESCRIPTIONS).filter((entry) => !isUsed(entry))).toEqual([]);
});
