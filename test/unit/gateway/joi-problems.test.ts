// Every problem that joi can find in a body or a query has a code of our own.
import { expect, test } from '@jest/globals';
import type Joi from 'joi';
import { problemOfJoi } from '#libs/input/joi-problems.ts';
import { routeTable } from '../../support/route-table.ts';

/** A shape as joi describes it. */
interface Described {
  type?: string;
  rules?: { name: string }[];
  dependencies?: { rel: string }[];
}

/** The types that are made from numbers and texts have the problems of these. */
const BASE: Readonly<Record<string, string>> = {
  digits: 'number',
  hours: 'number',
  currency: 'string',
  day: 'string',
  instant: 'string',
  line: 'string',
  moment: 'string',
  name: 'string',
  paragraphs: 'string',
  text: 'string',
  uuid: 'string',
};
/** The problems of these have other names than the rule. Those of `custom` come from `refuse`. */
const RULES: Readonly<Record<string, string[]>> = {
  custom: [],
  pattern: ['pattern.base'],
  sign: ['positive'],
  within: ['min', 'max'],
};
/** Problems without a rule. A type of our own rejects what is not of it under a name of its own. */
const ALWAYS: Readonly<Record<string, string[]>> = {
  alternatives: ['alternatives.match', 'alternatives.types'],
  array: ['array.base'],
  boolean: ['boolean.base'],
  currency: ['string.currency'],
  day: ['string.day'],
  decimal: ['decimal.base'],
  hours: ['hours.written'],
  instant: ['string.instant'],
  line: ['string.text', 'string.line'],
  moment: ['string.moment'],
  name: ['string.text', 'string.blank', 'string.line'],
  number: ['number.base', 'number.infinity', 'number.unsafe'],
  object: ['object.base'],
  paragraphs: ['string.text', 'string.blank'],
  string: ['string.base', 'string.empty'],
  text: ['string.text'],
  uuid: ['string.guid'],
};
const OF_ALL = ['any.only', 'any.required', 'any.unknown'];

function shapesIn(described: unknown): Described[] {
  if (Array.isArray(described)) return described.flatMap(shapesIn);
  if (typeof described !== 'object' || described === null) return [];
  const shape = described as Described;
  const own = typeof shape.type === 'string' && (shape.rules || ALWAYS[shape.type]) ? [shape] : [];
  return [...own, ...Object.values(described).flatMap(shapesIn)];
}

function problemsOf({ type = '', rules = [], dependencies = [] }: Described): string[] {
  const base = BASE[type] ?? type;
  return [
    ...(ALWAYS[type] ?? []),
    ...(ALWAYS[base] ?? []),
    ...rules.flatMap(({ name }) => (RULES[name] ?? [name]).map((rule) => `${base}.${rule}`)),
    ...dependencies.map(({ rel }) => (rel === 'or' ? 'object.missing' : `object.${rel}`)),
  ];
}

const described = routeTable
  .flatMap(({ body, query, parameters = {} }) => [body, query, ...Object.values(parameters)])
  .flatMap((shape) => (shape ? shapesIn((shape as Joi.Schema).describe()) : []));
const found = [...new Set([...OF_ALL, ...described.flatMap(problemsOf)])].toSorted();

test('when the shapes of all operations are read, then they have problems of many kinds', () => {
  expect(found.length).toBeGreaterThan(35);
});

test.each(found)('when joi finds %s, then the problem has a code of our own', (type) => {
  const context = { valids: ['a'], peers: ['a'] };

  expect(problemOfJoi({ path: ['x'], message: 'x', type, context }).code).not.toBe('invalid');
});

test('when joi finds what no shape of ours has, then the code says that the value is wrong', () => {
  expect(problemOfJoi({ path: ['x'], message: 'x', type: 'string.creditCard' })).toMatchObject({ code: 'invalid' });
});
