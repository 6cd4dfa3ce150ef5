// Every field of every body in the table of routes, at any depth, and a way to send a body that is valid except for one of them.
import { exampleId } from '#libs/responses/example-ids.ts';
import type { Reply, TestGateway } from '../../support/gateway.ts';
import {
  bodyFor,
  filledPath,
  kindOf,
  make,
  namesRecord,
  neededQuery,
  operations,
  withNeeded,
} from '../../support/operations.ts';
import { bodyShapeOf, routeTable, type Shape } from '../../support/route-table.ts';
import type { TestAccount } from '../../support/workspace.ts';

type Row = (typeof routeTable)[number];

export interface Field {
  row: Row;
  /** Names and, within lists, positions. */
  path: (string | number)[];
  shape: Shape;
}

/** The operations that can be called by a test: tenancy.test.ts fails for those without a row in test/support/operations.ts. */
export const callable = routeTable.filter(({ operation }) => operation in operations);
export const writes = callable.filter(({ body }) => body);
export const fields: Field[] = writes.flatMap((row) => fieldsIn(row, bodyShapeOf(row), []));

const EXAMPLE_IDS = Object.values(exampleId);

export const nameOf = ({ row, path }: Field) => `${row.operation} ${path.join('.')}`;

function fieldsIn(row: Row, shape: Shape, path: (string | number)[]): Field[] {
  return Object.entries(shape.keys ?? {}).flatMap(([name, inner]) => {
    const field = { row, path: [...path, name], shape: inner };
    const [item] = inner.items ?? [];
    return [field, ...(item?.keys ? fieldsIn(row, item, [...path, name, 0]) : [])];
  });
}

export interface Sender {
  /** Calls the operation. @param raw the body's bytes; without them it is the valid one. */
  send(raw?: string | Buffer, headers?: Record<string, string>): Promise<Reply>;
  /** Calls it with a query, and a valid body where it takes one. */
  sendTo(query: string): Promise<Reply>;
  /** The valid body as JSON, with one field's value as `literal`, which need not be JSON. */
  bodyWith(field: Field, literal: string): string;
  /** The valid body as JSON, with more names and values. */
  bodyAnd(more: object): string;
}

/** Makes a record to call the operation on, and a body it takes. */
export async function senderOf(
  gateway: TestGateway,
  row: Row,
  account: TestAccount = gateway.account,
): Promise<Sender> {
  const id = namesRecord(row.path) ? await make(gateway, kindOf(row.path), account, 'own-') : '';
  const path = filledPath(row.path, id);
  const body = await validBody(gateway, row, account);
  const needed = await neededQuery(gateway, row.operation, account);
  return {
    send: (raw = JSON.stringify(body), headers = {}) =>
      gateway.call(row.method.toUpperCase(), path, { key: account.key, raw, headers }),
    sendTo: (query) =>
      gateway.call(row.method.toUpperCase(), `${path}?${withNeeded(query, needed)}`, {
        key: account.key,
        ...(row.body ? { body } : {}),
      }),
    bodyWith: (field, literal) =>
      JSON.stringify(
        placed(
          {
            ...NEEDED_BY[String(field.path[0])],
            ...without(body, EXCLUDED_BY[`${field.row.operation} ${field.path[0]}`]),
          },
          field.path,
          bodyShapeOf(row),
        ),
      ).replace('"PLACE"', () => literal),
    bodyAnd: (more) => JSON.stringify({ ...more, ...body }),
  };
}

async function validBody(gateway: TestGateway, row: Row, account: TestAccount): Promise<Record<string, unknown>> {
  const [example = {}] = bodyShapeOf(row).examples ?? [];
  // The records that examples refer to do not exist.
  const exists = (value: unknown) => !EXAMPLE_IDS.some((id) => JSON.stringify(value).includes(id));
  const plain = Object.fromEntries(Object.entries(example).filter(([, value]) => exists(value)));
  return { ...plain, ...(await bodyFor(gateway, row.operation, account)) };
}

/** A field that another one excludes. */
const EXCLUDED_BY: Record<string, string> = {
  'convertQuote amount': 'percent',
  'billProject amount': 'percent',
  'creditInvoice amount': 'line_items',
  'creditInvoice line_items': 'amount',
};

/** Fields that another one needs beside it. */
const NEEDED_BY: Record<string, object> = {
  shipping_tax_rate: { shipping_amount: 1, line_items: [{ description: 'x', quantity: 1, rate: 1 }] },
};

function without(body: Record<string, unknown>, name: string | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([own]) => own !== name));
}

const NONE: Shape = { type: 'none' };

/** A copy of `body` in which PLACE stands at `path`. */
function placed(body: unknown, [step, ...rest]: (string | number)[], shape: Shape): unknown {
  if (step === undefined) return 'PLACE';
  if (typeof step === 'number')
    return [
      placed({ ...leastOf(shape.items?.[0]), ...(body as object[] | undefined)?.[0] }, rest, shape.items?.[0] ?? NONE),
    ];
  const record = (body ?? {}) as Record<string, unknown>;
  return { ...record, [step]: placed(record[step], rest, shape.keys?.[step] ?? NONE) };
}

/** Numbers that may be text as well. */
const DECIMALS = new Set(['quantity', 'rate']);

/** A line's quantity has two names, one of which is required; the others are, unless it names an item. */
const OF_LINES = new Set(['quantity', 'rate', 'description']);

/** The required names of an object, with the plainest values. */
function leastOf(shape: Shape | undefined): Record<string, unknown> {
  const { keys = {} } = shape ?? {};
  const isNeeded = (name: string) => name === 'quantity' || ('item_id' in keys && OF_LINES.has(name));
  const required = Object.entries(keys).filter(([name, { flags }]) => flags?.presence === 'required' || isNeeded(name));
  return Object.fromEntries(
    required.map(([name, { type }]) => [name, type === 'number' || DECIMALS.has(name) ? 1 : 'x']),
  );
}
