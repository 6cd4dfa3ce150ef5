// A name that a nested object of a body does not know is a mistake, and 400 says so; an unknown name of the body itself is ignored.
import { expect, test } from '@jest/globals';
import type Joi from 'joi';
import { AppError } from '#libs/errors.ts';
import { bodyReader } from '../../../services/gateway/http/read-body.ts';
import { fieldsOf, isClosed, itemsOf } from '../../../services/gateway/http/shape-fields.ts';
import { routeTable } from '../../support/route-table.ts';

type Row = (typeof routeTable)[number];

const UNKNOWN = 'no_such_name';

/** A nested object of a body with an unknown name in it, and how a message writes that name. */
interface Nested {
  label: string;
  value: unknown;
}

function nestedIn(shape: Joi.Schema, label: string): Nested[] {
  const [item] = itemsOf(shape);
  if (item) return nestedIn(item, `${label}[0]`).map(({ value, ...rest }) => ({ ...rest, value: [value] }));
  if (shape.type !== 'object' || !isClosed(shape)) return [];
  const deeper = [...fieldsOf(shape)].flatMap(([name, field]) =>
    nestedIn(field, `${label}.${name}`).map(({ value, ...rest }) => ({ ...rest, value: { [name]: value } })),
  );
  return [{ label: `${label}.${UNKNOWN}`, value: { [UNKNOWN]: 1 } }, ...deeper];
}

const strict = routeTable.filter(({ ignoresNestedNames }) => !ignoresNestedNames);
const cases = strict.flatMap((row) =>
  [...fieldsOf(row.body)].flatMap(([name, field]) =>
    nestedIn(field, name).map(
      ({ label, value }) => [`${row.operation} ${label}`, row, label, { [name]: value }] as const,
    ),
  ),
);

function problemsOf(row: Row, body: object): string[] {
  try {
    bodyReader(row.body as Joi.ObjectSchema, { ...row, isChange: row.method === 'patch' })(body);
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return Object.values(error.details ?? {}).flat();
  }
}

test('when the table of routes is read, then schedules, lines, addresses and formats are among the nested objects', () => {
  const labels = cases.map(([, , label]) => label);
  for (const name of [
    'schedule',
    'include_time.rounding',
    'line_items[0]',
    'postal_address',
    'number_formats.invoice',
  ]) {
    expect(labels).toContain(`${name}.${UNKNOWN}`);
  }
});

test.each(cases)('when %s is sent, then 400 names it', (_what, row, label, body) => {
  expect(problemsOf(row, body)).toContain(`${label} is not known`);
});

test('when the operation of the specification prints lines, then other names in them are ignored', () => {
  const lenient = routeTable.filter(({ ignoresNestedNames }) => ignoresNestedNames);
  expect(lenient.map(({ operation }) => operation)).toEqual(['generatePdf']);
  const [row] = lenient;
  const lineItems = [{ description: 'Support', [UNKNOWN]: 1 }];
  expect(problemsOf(row as Row, { lineItems }).filter((message) => message.includes(UNKNOWN))).toEqual([]);
});

test('when dozens are unknown, then 20 of them are named', () => {
  const row = routeTable.find(({ operation }) => operation === 'createRecurringInvoice') as Row;
  const schedule = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`name_${index}`, 1]));
  expect(problemsOf(row, { schedule }).filter((message) => message.endsWith('is not known'))).toHaveLength(20);
});
