// Published codes stay: callers decide by them, and make texts of their own from the parameters.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ERRORS } from '#libs/errors/declared.ts';
import { PROBLEMS } from '#libs/errors/problems.ts';
import { gapsOf } from '#libs/errors/template.ts';

interface Published {
  /** The status and the parameters of each error. */
  errors: Record<string, { status: number; params: string[] }>;
  /** The parameters of each problem of a field. */
  problems: Record<string, { params: string[] }>;
}

const FILE = new URL('published-codes.json', import.meta.url);

const paramsOf = ({ text, extra = {} }: { text: string; extra?: object }) =>
  [...new Set([...gapsOf(text), ...Object.keys(extra)])].toSorted();
const current: Published = {
  errors: Object.fromEntries(
    Object.entries(ERRORS).map(([code, error]) => [code, { status: error.status, params: paramsOf(error) }]),
  ),
  problems: Object.fromEntries(Object.entries(PROBLEMS).map(([code, one]) => [code, { params: paramsOf(one) }])),
};

const published = JSON.parse(readFileSync(FILE, 'utf8')) as Published;

// PUBLISHED=1 adds new codes and parameters. A code that changed or is gone stays as it was, and so its test stays red.
if (process.env['PUBLISHED'] === '1') {
  const merged = {
    errors: { ...current.errors, ...lost(published.errors, current.errors) },
    problems: { ...current.problems, ...lost(published.problems, current.problems) },
  };
  writeFileSync(FILE, `${JSON.stringify(merged, null, 1)}\n`);
}

type Row = { status?: number; params: string[] };

function lost<Rows extends Record<string, Row>>(before: Rows, now: Readonly<Record<string, Row>>): Rows {
  return Object.fromEntries(Object.entries(before).filter(([code, row]) => !isKept(row, now[code]))) as Rows;
}

function isKept(before: Row, now: Row | undefined): boolean {
  return now?.status === before.status && before.params.every((name) => now?.params.includes(name));
}

test.each(['errors', 'problems'] as const)(
  'when %s were published, then none is gone or means something else',
  (kind) => {
    expect(Object.keys(published[kind]).length).toBeGreaterThan(50);
    expect(lost<Record<string, Row>>(published[kind], current[kind])).toEqual({});
  },
);

test.each(['errors', 'problems'] as const)(
  'when %s are declared, then they are on the list, or PUBLISHED=1 was forgotten',
  (kind) => {
    expect(current[kind]).toEqual(published[kind]);
  },
);
