// Pages of a list: `limit` and `offset` in, `Link` headers out.
import Joi from 'joi';
import type { Position } from '#libs/models/keyset.ts';
import { CURSOR_LONGEST } from './cursor.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;
/** MongoDB walks over what is skipped: deeper pages belong to a filter. */
const OFFSET_MAX = 1_000_000_000;
/** The largest number of as many digits as a double always holds exactly. */
const DIGITS_MAX = 999_999_999_999_999;

export interface PageQuery {
  limit: number;
  offset: number;
  /** A cursor as it came; a position once it was read, see cursor.ts. */
  after?: Position | undefined;
}

// Joi's own number would read `1e2`, `0x10` and ` 5`; a query parameter is plain digits or it is wrong.
const digits = Joi.extend((joi) => ({
  type: 'digits',
  base: joi.number().integer(),
  // This runs before joi's own coercion, which would take all three.
  prepare: (value: unknown, { error }: Joi.CustomHelpers) => {
    if (typeof value !== 'string') return undefined;
    return /^\d{1,15}$/.test(value) ? { value: Number(value) } : { value, errors: [error('number.base')] };
  },
}));

export const pageQuery = {
  // A larger limit gives a page, and `pagination.limit` says so.
  limit: digits
    .digits()
    .min(1)
    .max(DIGITS_MAX)
    .default(LIMIT_DEFAULT)
    .custom(atMostAPage)
    .description('Page size, at most 100'),
  offset: digits.digits().min(0).max(OFFSET_MAX).default(0).description('Records to skip'),
  after: Joi.string()
    .max(CURSOR_LONGEST)
    .description(
      'Goes on after the last record of a page, whatever was added or removed meanwhile: the value that `Link` with `rel="next"` ' +
        'has, with the same filters and order. Not together with `offset`',
    ),
};

function atMostAPage(limit: number): number {
  return Math.min(limit, LIMIT_MAX);
}

/**
 * `Link` of RFC 8288 with first, prev, next and last, where they exist. What comes next begins after the last record of this page.
 * @param url path and query of the request. @param next the cursor of the next page, when there is one.
 */
export function pageLinks(
  url: string,
  { total, limit, offset }: PageQuery & { total: number },
  next: string | undefined,
): string {
  const at = (position: { offset: number } | { after: string }, rel: string) => {
    const target = new URL(url, 'http://host.invalid');
    target.searchParams.set('limit', String(limit));
    for (const name of ['offset', 'after']) target.searchParams.delete(name);
    for (const [name, value] of Object.entries(position)) target.searchParams.set(name, String(value));
    return `<${target.pathname}${target.search}>; rel="${rel}"`;
  };
  const last = Math.max(0, Math.floor((total - 1) / limit) * limit);
  return [
    at({ offset: 0 }, 'first'),
    ...(offset > 0 ? [at({ offset: Math.max(0, offset - limit) }, 'prev')] : []),
    ...(next === undefined ? [] : [at({ after: next }, 'next')]),
    at({ offset: last }, 'last'),
  ].join(', ');
}
