// Reports as CSV, for callers that ask for it by the Accept header.
import { stringify } from 'csv-stringify/sync';
import { entityTag } from '../http/entity-tag.ts';
import type { Context } from '../http/route.ts';
import { isAnsweredUnchanged, REVALIDATED, sendFile } from '../printing/send-pdf.ts';

/** True when the caller prefers CSV to JSON. Caches keep the two apart from then on. */
export function wantsCsv({ request, response }: Pick<Context, 'request' | 'response'>): boolean {
  response.vary('Accept');
  return request.accepts(['application/json', 'text/csv']) === 'text/csv';
}

/**
 * A semicolon before a formula. Spreadsheets of countries with a decimal comma split cells at semicolons, and take quotes
 * away where a cell begins with them.
 */
const SEMICOLON_BEFORE_FORMULA = /;(?=[\s"]*[=+\-@＝＋－＠])/g;

/**
 * Sends rows as a file in the form of RFC 4180. A text that a spreadsheet would compute gets an apostrophe before it.
 * @param name of the file, without its end.
 */
export function sendCsv<Column extends string>(
  context: Pick<Context, 'request' | 'response' | 'reserve'>,
  name: string,
  { columns, rows }: { columns: readonly Column[]; rows: readonly Record<Column, string | number | null>[] },
): undefined {
  const text = stringify([...rows], {
    header: true,
    columns: [...columns],
    record_delimiter: 'windows',
    escape_formulas: true,
    cast: { string: (cell) => cell.replaceAll(SEMICOLON_BEFORE_FORMULA, ";'") },
  });
  const tag = entityTag(text);
  const headers = { ETag: tag, 'Cache-Control': REVALIDATED };
  if (isAnsweredUnchanged(context, tag, headers)) return;
  const bytes = Buffer.from(text);
  sendFile(context, { name, end: '.csv', type: 'text/csv; charset=utf-8' }, { bytes, warnings: [] }, headers);
}
