// The erasure of a client in the bodies of events, for every type of the catalogue: no text stays without a decision.
import { describe, expect, test } from '@jest/globals';
import { erasedBody } from '#libs/models/accounts/client-erasure.ts';
import { type EventNoun, nounOf } from '#libs/models/webhooks/event-types.ts';
import { eventCatalogue } from '#libs/responses/event-catalogue.ts';
import type { JsonSchema } from '#libs/responses/json-schema.ts';

/** Stands in every field that can hold any text. */
const TEXT = 'Zora Quillfeather';

/** Events whose data names no client. They hold texts of the account, and the erasure of a client does not look for them. */
const WITHOUT_CLIENT: readonly EventNoun[] = [
  'task',
  'time_entry',
  'timer',
  'item',
  'documents',
  'link',
  'report',
  'endpoint',
  'ping',
];

const LINE = ['description', 'qty', 'rate', 'discount', 'unit'].map((name) => `line_items[].${name}`);
const PRINTED = ['description', ...LINE, 'taxes[].note'];
const MAIL = [
  ...['document.number', 'sender', 'message_id', 'attachments[].name', 'attachments[].sha256'],
  ...['recipients[].code', 'attempts[].code'],
];

/**
 * The texts that stay when the client is erased: the account wrote them, or they are numbers, days, codes and names that
 * Billhook gives. A text that the client or a mail server wrote, or that says who the client is, must not stand here:
 * erase it in client-erasure.ts.
 */
const STAYS: Partial<Record<EventNoun, readonly string[]>> = {
  client: ['status', 'member_rates[].member', 'reminders.paused_until'],
  project: ['name', 'status', 'member_rates[].member'],
  expense: ['project.name', 'description', 'receipt', 'invoice.invoice_number'],
  hour_package: ['name', 'project.name', 'valid_from', 'valid_until'],
  quote: [
    ...[...PRINTED, 'notes', 'terms', 'project.name', 'quote_number', 'due_date'],
    ...['invoices[].invoice_number', 'invoices[].status'],
  ],
  invoice: [
    ...[...PRINTED, 'notes', 'terms', 'project.name', 'invoice_number', 'corrects_number', 'quote.quote_number'],
    ...['paid_on', 'cancelled_on', 'reminders.paused_until'],
  ],
  recurring_invoice: [
    ...['description', ...LINE, 'notes', 'terms', 'project.name', 'last_invoice.invoice_number'],
    ...['schedule.end_on', 'next_on', 'include_time.line_text', 'include_time.members[]'],
    ...['code', 'message', 'params.any'].map((name) => `last_error.${name}`),
    ...['field', 'code', 'message', 'params.any'].map((name) => `last_error.problems[].${name}`),
  ],
  payment: [
    ...['payment_number', 'invoice_number', 'voided_on', 'reference', 'external_id', 'note', 'void_reason'],
    ...['allocations[].invoice.invoice_number', 'allocations[].released_on'],
    ...['refunds[].invoice.invoice_number', 'refunds[].reference', 'refunds[].external_id'],
  ],
  credit_note: [
    ...[...PRINTED, 'credit_note_number', 'invoice.invoice_number'],
    ...['allocations[].invoice.invoice_number', 'allocations[].released_on'],
    ...['refunds[].reference', 'refunds[].external_id'],
  ],
  promise: ['invoice.invoice_number'],
  question: ['document.number', 'line_description'],
  message: MAIL,
  reminder: MAIL,
};

const catalogue = eventCatalogue();
const nouns = [...new Set(catalogue.map(({ type }) => nounOf(type)))];

test('when a type of event names no client, then that is its decision', () => {
  const named = catalogue.filter(({ type, schema }) => nounOf(type) === 'client' || 'client' in fieldsOf(schema));
  const naming = new Set(named.map(({ type }) => nounOf(type)));
  expect(nouns.filter((noun) => !naming.has(noun))).toEqual(WITHOUT_CLIENT);
});

describe.each(nouns.filter((noun) => !WITHOUT_CLIENT.includes(noun)))('%s', (noun) => {
  test('when its client is erased, then only the texts stay of which that was decided', () => {
    const left = catalogue
      .filter(({ type }) => nounOf(type) === noun)
      .flatMap(({ type, schema }) => {
        const data = filled({ type: 'object', properties: fieldsOf(schema) });
        return textsIn(JSON.parse(erasedBody(JSON.stringify({ type, data }))).data);
      });
    expect([...new Set(left)].toSorted()).toEqual(STAYS[noun]?.toSorted());
  });
});

/** Returns the schemas of the fields of the data of an event. */
function fieldsOf(body: JsonSchema): Record<string, JsonSchema> {
  const { data } = body['properties'] as Record<string, JsonSchema>;
  return data?.['properties'] as Record<string, JsonSchema>;
}

/** Formats that leave no room for a name. */
const FIXED = ['uuid', 'date-time'];

/** Returns a value of the schema with everything that may be in it, and TEXT where any text may be. */
function filled(schema: JsonSchema): unknown {
  const { anyOf, type, properties, items, additionalProperties, format } = schema;
  const choices = anyOf as JsonSchema[] | undefined;
  if (choices) return filled(choices.find((one) => one['type'] !== 'null') as JsonSchema);
  const types = [type].flat();
  if (types.includes('array')) return [filled(items as JsonSchema)];
  if (types.includes('object')) {
    const fields = Object.entries((properties ?? {}) as Record<string, JsonSchema>);
    const own = Object.fromEntries(fields.map(([name, field]) => [name, filled(field)]));
    return additionalProperties ? { ...own, any: TEXT } : own;
  }
  const isFixed = ['enum', 'const', 'pattern'].some((name) => name in schema) || FIXED.includes(String(format));
  return types.includes('string') && !isFixed ? TEXT : null;
}

/** Returns the paths of the fields that hold TEXT. */
function textsIn(value: unknown, path = ''): string[] {
  if (value === TEXT) return [path];
  if (Array.isArray(value)) return value.flatMap((one) => textsIn(one, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => textsIn(one, path ? `${path}.${name}` : name));
}
