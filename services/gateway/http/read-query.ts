// Turns a query string into typed values, and rejects parameters that the operation does not know: a misspelt filter must not list every record.
import { parse } from 'node:querystring';
import type Joi from 'joi';
import { type DetailsForm, problemOf, validationFailed } from '#libs/errors.ts';
import { problemOfJoi } from '#libs/input/joi-problems.ts';
import { validation } from '#libs/input/kinds.ts';
import { fieldsOf } from './shape-fields.ts';

/** More are an attack. The response names each unknown one. */
const PARAMETERS_MAX = 100;
/** `status[$ne]=x` is what other query parsers make operators of. */
const NAME = /^[\w-]{1,100}$/;

type Parameters = Record<string, string | string[] | undefined>;

/**
 * @param shape the operation's parameters; none unless given. @param details the form of `details`.
 * @returns what reads the query of a URL for an account, whose settings the rules of the shape may know, or throws an
 * AppError 400 with every problem.
 */
export function queryReader<Query>(
  shape: Joi.ObjectSchema<Query> | undefined,
  details?: DetailsForm,
): (url: string, account?: object) => Query {
  const known = fieldsOf(shape);
  // Parameters arrive as text, so they are converted.
  const lenient = shape?.prefs(validation);
  return (url, account) => {
    const given = parametersOf(url, details);
    const names = Object.keys(given);
    const repeated = names.filter((name) => known.has(name) && Array.isArray(given[name]));
    const single = Object.fromEntries(
      Object.entries(given).filter(([name, value]) => known.has(name) && !Array.isArray(value)),
    );
    const { error, value = {} } = lenient?.validate(single, { context: { account } }) ?? {};
    const problems = [
      ...names.filter((name) => !known.has(name)).map((name) => problemOf(name, 'unknown_parameter')),
      ...repeated.map((name) => problemOf(name, 'repeated_parameter')),
      // A repeated parameter is not validated, so a required one is not missing.
      ...(error?.details ?? []).filter(({ path }) => !repeated.includes(String(path[0]))).map(problemOfJoi),
    ];
    if (problems.length > 0) throw validationFailed(problems, details);
    return value as Query;
  };
}

/** The parameters of a URL as text. @throws AppError 400 when they are no text, or too many. */
export function parametersOf(url: string, details?: DetailsForm): Parameters {
  const start = url.indexOf('?');
  if (start < 0) return {};
  const text = url.slice(start + 1);
  // `maxKeys: 0` is no limit: a parameter beyond one would be dropped in silence.
  const parameters: Parameters = parse(text, '&', '=', { maxKeys: 0 });
  const names = Object.keys(parameters);
  const wrong =
    (!isText(text) && problemOf('query', 'query_malformed')) ||
    (names.length > PARAMETERS_MAX && problemOf('query', 'too_many_parameters', { limit: PARAMETERS_MAX })) ||
    (!names.every((name) => NAME.test(name)) && problemOf('query', 'invalid_parameter_names'));
  if (wrong) throw validationFailed([wrong], details);
  return parameters;
}

/** Decoded by `parse`, the wrong bytes would become U+FFFD and be searched for. */
function isText(query: string): boolean {
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
}
