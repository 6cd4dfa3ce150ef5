// One declaration of a list: the parameters of its query, each with its condition, and its orders. The list applies them all itself.
import Joi from 'joi';
import { day, instant, uuid } from '#libs/input/kinds.ts';
import type { Filter } from '#libs/models/keyset.ts';
import type { FieldOf, Listing } from '#libs/models/list-indexes.ts';
import { findPage } from '#libs/models/listing.ts';
import type { Owned, Records } from '#libs/models/records.ts';
import type { StatusFilter } from '#libs/models/status-filter.ts';
import { type Id, storedId } from '#libs/models/tenant.ts';
import { type PageQuery, pageQuery } from './page.ts';
import { type JsonResponse, listed } from './response.ts';
import type { Caller } from './route.ts';

export interface ListQuery extends PageQuery {
  sort?: string;
  updated_since?: Date;
}

/**
 * Fields with the values or ranges that an index may serve, and under `$and` conditions that are checked record by record. Beside the
 * fields, a condition that no index serves would make the database merge several indexes and sort the result.
 */
export type Condition<Stored = never> = { readonly [Field in FieldOf<Stored>]?: unknown } & {
  readonly $and?: readonly Filter[];
};

/** The request that a condition may depend on besides its own value. @template Query other parameters. */
export interface Asked<Query = unknown> {
  caller: Caller;
  query: Readonly<Query>;
}

/** A parameter of a list and what it asks of the records: neither stands without the other. */
export interface ListFilter<Stored> {
  input: Joi.Schema;
  /**
   * The condition of a value of the input.
   * @returns null when no record can match.
   */
  where: (value: never, asked: Asked<never>) => Wanted<Stored> | Promise<Wanted<Stored>>;
}

type Wanted<Stored> = Condition<Stored> | StatusFilter | null;

export interface List<Stored> {
  /** The parameters, for the row of the table of routes. */
  query: Joi.ObjectSchema<ListQuery>;
  /**
   * The page that a query asks for.
   * @param view how records are shown. @param within a condition that the caller has no choice about.
   */
  respond: (
    asked: { caller: Caller; query: ListQuery },
    view: (records: Stored[]) => unknown[] | Promise<unknown[]>,
    within?: Condition<Stored>,
  ) => Promise<JsonResponse>;
}

/**
 * @param own the filters of the list by their parameters. `updated_since` and the ranges come from the listing.
 * @param published the filters that come before the parameters of the page, all unless given. Generated clients pass parameters by
 * position, so a published order stays, and a filter that is added later comes last.
 */
export function listOf<Stored extends Owned>(
  records: Records<Stored>,
  listing: Listing<FieldOf<Stored>>,
  own: Readonly<Record<string, ListFilter<Stored>>> = {},
  published?: readonly string[],
): List<Stored> {
  const { orders, standard, ranges = [] } = listing;
  const filters: Readonly<Record<string, ListFilter<Stored>>> = {
    ...own,
    ...Object.assign({}, ...ranges.map((key) => rangeOf(key, orders[key] as string))),
    ...('updated_at' in orders ? { updated_since: UPDATED_SINCE } : {}),
  };
  const sortOf = (query: ListQuery & Filter) => {
    const range = ranges.find((key) => `${key}_from` in query || `${key}_to` in query);
    if (query.sort !== undefined) return query.sort;
    if (query.updated_since) return '-updated_at';
    return range ? `-${range}` : standard;
  };

  const inputsOf = (names: readonly string[]) =>
    Object.fromEntries(names.flatMap((name) => (filters[name] ? [[name, filters[name].input]] : [])));

  return {
    query: Joi.object<ListQuery>({
      ...inputsOf(published ?? Object.keys(filters).filter((name) => name !== 'updated_since')),
      ...pageQuery,
      ...sortInput(listing),
      ...inputsOf(['updated_since', ...Object.keys(filters)].filter((name) => !published?.includes(name))),
    }),
    async respond({ caller, query: given }, view, within) {
      const query = given as ListQuery & Filter;
      const conditions: Filter[] = [{ account_id: storedId(caller.accountId), ...within }];
      let status: StatusFilter | undefined;
      for (const [name, { where }] of Object.entries(filters)) {
        const value = query[name];
        if (value === undefined) continue;
        const wanted = await where(value as never, { caller, query: query as never });
        if (!wanted) return listed([], { total: 0 }, query);
        if (isStatus(wanted)) status = wanted;
        else conditions.push(wanted);
      }
      const { limit, offset, after } = query;
      const filter = allOf(conditions);
      const found = await findPage(records, listing, { filter, status, sort: sortOf(query), limit, offset, after });
      return listed(await view(found.records), found, query);
    },
  };
}

/** A condition on what no index of the list has. */
export function oneByOne<Stored>(condition: Filter): Condition<Stored> {
  return { $and: [condition] };
}

/** A filter by the id of another record. */
export function byId<Field extends string>(
  field: Field,
  description = `Only records of this ${field.replace(/_id$/, '').replaceAll('_', ' ')}`,
) {
  return {
    input: uuid().description(description),
    where: (id: Id) => ({ [field]: storedId(id) }) as Record<Field, unknown>,
  };
}

const UPDATED_SINCE = {
  input: instant().description('Only what was changed at this moment or later'),
  where: (moment: Date) => ({ updated_at: { $gte: moment } }),
};

/** `<key>_from` and `<key>_to`. */
function rangeOf(key: string, field: string) {
  return {
    [`${key}_from`]: {
      input: day().description(
        `\`${key}\` on this day or later; then the list is in its order unless \`sort\` is given`,
      ),
      where: (first: string) => ({ [field]: { $gte: first } }),
    },
    [`${key}_to`]: {
      input: day().description(`\`${key}\` on this day or earlier`),
      where: (last: string) => ({ [field]: { $lte: last } }),
    },
  };
}

/** A list with one order only leaves no choice. */
function sortInput({ orders, standard }: Listing) {
  const names = Object.keys(orders);
  if (names.length === 1) return {};
  const sort = Joi.string()
    .valid(...names, ...names.map((name) => `-${name}`))
    .description(`Order; a leading minus is descending. ${standard} when absent, -updated_at with updated_since`);
  return { sort };
}

function isStatus(wanted: object): wanted is StatusFilter {
  return 'walked' in wanted;
}

/** All conditions as one. The first on a field may be served by an index; a further one is looked at record by record, unless the two are a range. */
function allOf(conditions: readonly Filter[]): Filter {
  const fields: Record<string, unknown> = {};
  const others: unknown[] = [];
  for (const { $and = [], ...condition } of conditions) {
    others.push(...($and as unknown[]));
    for (const [field, value] of Object.entries(condition)) {
      if (!(field in fields)) fields[field] = value;
      else if (isRange(fields[field], value)) fields[field] = { ...(fields[field] as object), ...(value as object) };
      else others.push({ [field]: value });
    }
  }
  return others.length > 0 ? { ...fields, $and: others } : fields;
}

/** True of a lower and an upper bound. */
function isRange(one: unknown, other: unknown): boolean {
  const bounds = [one, other].flatMap((value) => Object.keys((value ?? {}) as object));
  return bounds.toSorted().join(' ') === '$gte $lte';
}
