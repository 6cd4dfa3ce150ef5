// What the lists of invoices and of quotes can be filtered by besides the client, and the order that goes with a filter.

import Joi from 'joi';
import { type DetailsForm, fieldProblem } from '#libs/errors.ts';
import { CLIENTS_SEARCHED, documentsWithText } from '#libs/models/billing/document-search.ts';
import { type Id, storedId } from '#libs/models/tenant.ts';
import type { ListQuery } from '../http/page.ts';
import { day, line } from './input-fields.ts';

/** As long as a printed number can be. */
const NUMBER_LONGEST = 60;
const SEARCH_LONGEST = 100;

export interface DocumentFilters {
  client_id?: Id;
  number?: string;
  q?: string;
  issue_date_from?: string;
  issue_date_to?: string;
}

export const documentFilters = {
  number: line().max(NUMBER_LONGEST).description('The printed number, exactly'),
  q: line()
    .max(SEARCH_LONGEST)
    .allow('')
    .description('Part of the number, the description or the client; case and accents do not count'),
  ...rangeInput('issue_date'),
};

/** `<field>_from` and `<field>_to`. */
export function rangeInput<Field extends string>(field: Field) {
  return {
    [`${field}_from`]: day().description(
      `\`${field}\` on this day or later; then the list is in its order unless \`sort\` is given`,
    ),
    [`${field}_to`]: day().description(`\`${field}\` on this day or earlier`),
  } as Record<`${Field}_from` | `${Field}_to`, Joi.StringSchema>;
}

/** One status or several with commas between them, read as a list without repetitions. */
export function severalOf(statuses: readonly string[]) {
  const one = `(?:${statuses.join('|')})`;
  return Joi.string()
    .pattern(new RegExp(`^${one}(?:,${one}){0,9}$`))
    .messages({ 'string.pattern.base': `{{#label}} must be one of ${statuses.join(', ')}, or several with commas` })
    .custom((text: string) => [...new Set(text.split(','))])
    .description('One status, or several with commas between them');
}

type Query = DocumentFilters & ListQuery & Record<`${string}_from` | `${string}_to`, unknown>;

/** @param fields that have a range. @returns all of the filter but the status. @throws AppError 400 when `q` is too short to be searched for. */
export async function documentFilter(
  accountId: Id,
  query: object,
  { fields, details }: { fields: readonly string[]; details?: DetailsForm },
): Promise<Record<string, unknown>> {
  const { client_id, updated_since, number, q, ...ranges } = query as Query;
  const found = q ? await documentsWithText(accountId, q) : {};
  if (!found) {
    throw fieldProblem('q', `q finds more than ${CLIENTS_SEARCHED} clients: use a longer text`, details);
  }
  return {
    account_id: storedId(accountId),
    ...(client_id ? { client_id: storedId(client_id) } : {}),
    ...(updated_since ? { updated_at: { $gte: updated_since } } : {}),
    ...(number === undefined ? {} : { number_text: number }),
    ...(q ? { $and: [found] } : {}),
    ...Object.fromEntries(
      fields.flatMap((field) => {
        const [from, to] = [ranges[`${field}_from`], ranges[`${field}_to`]];
        if (from === undefined && to === undefined) return [];
        return [[field, { ...(from === undefined ? {} : { $gte: from }), ...(to === undefined ? {} : { $lte: to }) }]];
      }),
    ),
  };
}

/** A list with a range and without `sort` is in the order of the range: its index is the one to walk. */
export function orderedByRange<Given extends ListQuery>(query: Given, fields: readonly string[]): Given {
  if (query.sort !== undefined || query.updated_since !== undefined) return query;
  const field = fields.find((name) => `${name}_from` in query || `${name}_to` in query);
  return field === undefined ? query : { ...query, sort: `-${field}` };
}
