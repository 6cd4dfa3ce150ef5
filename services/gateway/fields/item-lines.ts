// Line items that name an item of the catalogue get its fields, wherever a body takes line items.

import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { appError } from '#libs/errors.ts';
import { Item, type ItemRecord } from '#libs/models/billing/item.ts';
import { findAllOwn } from '#libs/models/records.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { Work } from '../http/commit.ts';
import type { Context, Route } from '../http/route.ts';
import { fieldsOf } from '../http/shape-fields.ts';
import type { LineInput } from './money-input.ts';

/** Fields of bodies that take line items. */
const FIELDS = ['line_items', 'extra_lines'] as const;

type LinesOf = Partial<Record<(typeof FIELDS)[number], LineInput[] | null>>;

/** A line of the body, and what the caller gave of it: a transaction that begins again copies anew. */
interface NamedLine {
  itemId: Id;
  line: LineInput;
  given: Partial<LineInput>;
}

/** The rows whose bodies take line items look items up in their transaction: a repeated request finds the response to the first. */
export function withItems(routes: readonly Route[]): readonly Route[] {
  return routes.map((row) => {
    const fields = fieldsOf(row.body);
    if (!FIELDS.some((name) => fields.has(name))) return row;
    const alsoNeeds = { ...row.alsoNeeds, 'items:read': 'a line names an item' };
    return { ...row, alsoNeeds, handler: async (context: Context) => row.handler(copying(context)) };
  });
}

function copying(context: Context): Context {
  const body = { ...(context.body as LinesOf) };
  if (!FIELDS.some((name) => body[name]?.some(({ item_id }) => item_id))) return context;
  context.requireScope('items:read');
  const named: NamedLine[] = [];
  for (const name of FIELDS) {
    const lines = body[name]?.map((line) => ({ ...line }));
    if (!lines) continue;
    body[name] = lines;
    for (const line of lines) if (line.item_id) named.push({ itemId: line.item_id, line, given: given(line) });
  }
  const copied = (work: Work<never>) => async (unit: UnitOfWork, prepared: never) => {
    await copyItems(unit, named);
    return work(unit, prepared);
  };
  const commit = ((work: Work<never>, prepare: never) =>
    context.commit(copied(work), prepare)) as unknown as Context['commit'];
  return { ...context, body, commit };
}

/** @throws AppError 404 for an item that is not the account's. */
async function copyItems({ accountId, session }: UnitOfWork, named: readonly NamedLine[]): Promise<void> {
  const fields = ['name', 'description', 'unit', 'rate', 'tax_rate'] as const;
  const ids = named.map(({ itemId }) => itemId);
  const items = await findAllOwn(Item, accountId, ids, fields, session);
  for (const { itemId, line, given } of named) {
    const item = items.get(itemId);
    if (!item) throw appError('item_not_found');
    Object.assign(line, copiedFields(item, given), given);
  }
}

/**
 * The line as the item makes it. A category that the line has of its own decides about its rate, too. A field that the item does not have
 * is undefined, not absent: an earlier attempt may have copied one.
 */
function copiedFields(
  { name, description, rate, tax_rate, unit }: ItemRecord,
  { tax_category }: Partial<LineInput>,
): { [Name in 'description' | 'rate' | 'tax_rate' | 'unit']: LineInput[Name] | undefined } {
  return {
    description: description ? `${name}\n${description}` : name,
    rate,
    tax_rate: tax_rate === null || tax_category ? undefined : tax_rate,
    unit: unit ?? undefined,
  };
}

/** Returns the fields that the line sets itself. They override those of the item. */
function given(line: LineInput): Partial<LineInput> {
  return Object.fromEntries(Object.entries(line).filter(([, value]) => value !== undefined && value !== null));
}
