// Reads the parameters of a page from its URL, so that every search is a link.
import type { Request } from 'express';
import { PageError } from './page-error.ts';

export const PAGE_SIZE = 50;
/** The last page, because MongoDB reads every skipped record. A narrower search is faster. */
const PAGE_LAST = 200;
const TEXT_LONGEST = 200;
/** The form that `datetime-local` sends, with or without seconds. */
const TIME_FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/;

/** Returns the query's parameters, and the last value of a repeated one. */
export function paramsOf(request: Request): URLSearchParams {
  return selectionParams(request.originalUrl.split('?')[1] ?? '');
}

/** Returns the parameters that are not empty: an empty field of a form is no filter. */
export function selectionParams(query: string): URLSearchParams {
  const given = [...new URLSearchParams(query)].filter(([, value]) => value.trim() !== '');
  return new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, value.trim()])));
}

export function pageNumberOf(params: URLSearchParams): number {
  const number = Number(params.get('page') ?? 1);
  if (!Number.isInteger(number) || number < 1 || number > PAGE_LAST) {
    throw new PageError(400, `Pages go from 1 to ${PAGE_LAST}. Narrow the search.`);
  }
  return number;
}

/** Returns the parameters of the search itself, for links to its other pages and to actions on all that it finds. */
export function withoutPage(params: URLSearchParams): URLSearchParams {
  const search = new URLSearchParams(params);
  search.delete('page');
  return search;
}

/** Returns the slice of a page. One record more than is shown tells if there is a next page. */
export function sliceOf(number: number) {
  return { skip: (number - 1) * PAGE_SIZE, limit: PAGE_SIZE + 1 };
}

/** Returns what a page shows of the records in its slice, and if there is a next page. */
export function shownOf<Found>(found: readonly Found[]): { rows: Found[]; hasNext: boolean } {
  return { rows: found.slice(0, PAGE_SIZE), hasNext: found.length > PAGE_SIZE };
}

export function textOf(params: URLSearchParams, name: string): string | undefined {
  return params.get(name)?.slice(0, TEXT_LONGEST) ?? undefined;
}

/** Reads one state, or several separated by commas. */
export function statusesOf<Status extends string>(
  params: URLSearchParams,
  known: readonly Status[],
): Status[] | undefined {
  const given = textOf(params, 'status')?.split(',');
  const unknown = given?.find((status) => !(known as readonly string[]).includes(status));
  if (unknown !== undefined) throw new PageError(400, `Unknown state ${unknown}. Known states: ${known.join(', ')}.`);
  return given as Status[] | undefined;
}

export function timeOf(params: URLSearchParams, name: string): Date | undefined {
  const text = textOf(params, name);
  if (text === undefined) return undefined;
  const date = new Date(`${text}Z`);
  if (!TIME_FORM.test(text) || Number.isNaN(date.getTime())) {
    throw new PageError(400, `${name} must be a time such as 2026-01-31T12:00, in UTC.`);
  }
  return date;
}

/** Writes a time in the format of `datetime-local`. */
export function timeText(date: Date): string {
  return date.toISOString().slice(0, 16);
}
