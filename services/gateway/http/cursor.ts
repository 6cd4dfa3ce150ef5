// The `after` of lists: a place in one list with its filters and its order, opaque to callers.
import { createHash } from 'node:crypto';
import type { Position } from '#libs/models/keyset.ts';
import { isId } from '#libs/models/tenant.ts';

/** Characters of a cursor: it is part of an address, which has to fit into a header. */
export const CURSOR_LONGEST = 2_000;
/** Characters. A longer value of the order (a name of 2,000) is read from the record when the next page is asked for. */
const VALUE_LONGEST = 300;

/** Returns the identity of the list that a cursor belongs to. @param query all parameters as they were read. The size of the page does not count. */
export function listIdentity(path: string, query: object): string {
  const { limit: _limit, offset: _offset, after: _after, ...rest } = query as Record<string, unknown>;
  const parameters = Object.entries(rest).filter(([, value]) => value !== undefined);
  const text = JSON.stringify([path, parameters.toSorted(([one], [other]) => (one < other ? -1 : 1))]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

type CursorFields = [list: string, id: string, kind: 'value' | 'date' | 'stored', value: string | number | null];

export function writeCursor(list: string, { value, id }: Position): string {
  const parts: CursorFields = [list, id, ...written(value)];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

function written(value: Position['value']): [CursorFields[2], CursorFields[3]] {
  if (value instanceof Date) return ['date', value.getTime()];
  if (value === undefined || (typeof value === 'string' && value.length > VALUE_LONGEST)) return ['stored', null];
  return ['value', value];
}

/** @returns the position, or what is wrong with the cursor. */
export function readCursor(list: string, cursor: string): Position | 'cursor_malformed' | 'cursor_of_other_list' {
  const parts = partsOf(cursor);
  if (!parts || !isId(parts[1])) return 'cursor_malformed';
  const [of, id, kind, value] = parts;
  if (of !== list) return 'cursor_of_other_list';
  if (kind === 'stored') return { id, value: undefined };
  return { id, value: kind === 'date' ? new Date(Number(value)) : value };
}

function partsOf(cursor: string): CursorFields | undefined {
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    // Never an object: in a filter it would be an operator.
    const isPlain = parts.length === 4 && parts.every((part) => part === null || typeof part !== 'object');
    return isPlain ? (parts as CursorFields) : undefined;
  } catch {
    return undefined; // Not JSON, or not a list.
  }
}
