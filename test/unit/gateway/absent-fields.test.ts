// Responses have every field of their schema, and null in one that is unset. Only the fields below are left out.
import { expect, test } from '@jest/globals';
import { makeOpenApi } from '../../../services/gateway/reference/openapi.ts';
import { routeTable } from '../../support/route-table.ts';

interface Schema {
  properties?: Record<string, unknown>;
  required?: string[];
}

/** Published before the rule, or of the specification. Of new fields only those of a client are added here: elsewhere the response has null. */
const LEFT_OUT: Readonly<Record<string, string[]>> = {
  // The specification shows a client with the fields that were given.
  ClientRecord: [
    'company_name',
    'phone',
    'address',
    'tax_id',
    'legal_id',
    'vat_id',
    'electronic_address',
    'postal_address',
    'buyer_reference',
    'hourly_rate',
    'member_rates',
    'currency',
    'payment_days',
    'rounding',
    'tax_treatment',
    'e_invoice_format',
    'e_invoice_pdf',
    'early_payment_discounts',
    'reminders',
    'auto_collect',
    'anonymised_at',
  ],
  ClientSummary: ['company_name'],
  // A line has the fields that the caller sent, so that it can be sent back.
  LineItem: ['tax_rate', 'tax_category', 'unit'],
  CreditLine: ['tax_rate', 'tax_category', 'unit', 'line'],
  // An error without problems of fields has no details.
  ValidationFailed: ['details', 'problems'],
  ValidationFailedAsList: ['details', 'problems'],
};

test('when a field of a record is unset, then its response has null', async () => {
  const { paths, components } = await makeOpenApi(routeTable, '0.0.0');
  const schemas = components.schemas as Record<string, Schema>;
  const responses = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ responses }) => responses));
  const found = Object.fromEntries(
    reachableFrom(responses, schemas).flatMap((name) => {
      const { properties = {}, required = [] } = schemas[name] as Schema;
      const leftOut = Object.keys(properties).filter((field) => !required.includes(field));
      return leftOut.length === 0 ? [] : [[name, leftOut.toSorted()]];
    }),
  );

  expect(found).toEqual(Object.fromEntries(Object.entries(LEFT_OUT).map(([name, of]) => [name, of.toSorted()])));
});

/** Returns the names of all schemas that a value refers to, directly or through other schemas. */
function reachableFrom(value: unknown, schemas: Record<string, Schema>): string[] {
  const names = new Set<string>();
  const visit = (part: unknown) => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (names.has(name)) continue;
      names.add(name);
      visit(schemas[name]);
    }
  };
  visit(value);
  return [...names];
}
