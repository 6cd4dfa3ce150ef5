// Filters that several lists have.
import Joi from 'joi';
import { line } from '#libs/input/kinds.ts';
import { type StatusFilter, withStatuses } from '#libs/models/status-filter.ts';
import { textWithin } from '#libs/search-text.ts';
import type { Asked } from '../http/list.ts';

/** A filter by a part of the record's searched text. @param what a sentence without its end, such as `Part of the name`. */
export function byText(longest: number, what: string) {
  return {
    input: searchInput(longest, what),
    // Every text has the empty one.
    where: (text: string) => (text === '' ? {} : { search: textWithin(text) }),
  };
}

export function searchInput(longest: number, what: string) {
  return line().max(longest).allow('').description(`${what}; case and accents do not count`);
}

/** A filter by a status that no day changes. */
export function byStatus(statuses: readonly string[]) {
  const input = Joi.string()
    .valid(...statuses)
    .description('Only records in this state');
  return { input, where: (status: string) => withStatuses([status]) };
}

/** A filter by one status or several with commas between them. */
export function byStatuses<Status extends string>(
  statuses: readonly Status[],
  where: (wanted: Status[], asked: Asked) => StatusFilter | { status: unknown },
) {
  const one = `(?:${statuses.join('|')})`;
  const input = Joi.string()
    .pattern(new RegExp(`^${one}(?:,${one}){0,9}$`))
    .messages({ 'string.pattern.base': `{{#label}} must be one of ${statuses.join(', ')}, or several with commas` })
    .custom((text: string) => [...new Set(text.split(','))])
    .description('One status, or several with commas between them');
  return { input, where };
}

/** A filter of money that has moved in by whether some of it is left. */
export const byRest = {
  input: Joi.boolean().description('With true only those that have something left'),
  where: (isLeft: boolean) => ({ unallocated: isLeft ? { $gt: 0 } : 0 }),
};
