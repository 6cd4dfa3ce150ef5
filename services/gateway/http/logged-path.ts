// The path of a request as its log line has it: without a parameter that may be the address of a person.
import type { Route } from './route.ts';

type Row = Pick<Route, 'path' | 'parameters'>;

/** A parameter that can be this can be the address of a person. */
const ADDRESS = 'ada@example.com';

interface MaskedPath {
  /** Matches the path up to the parameter, in any case and with repeated slashes: the log has rejected requests, too. */
  start: RegExp;
  /** The parameter as the table of routes writes it. */
  parameter: string;
  /** The path after it. */
  end: string;
}

/** Makes the function that returns the path for the log, with the name of such a parameter in its place. */
export function openLoggedPath(routes: readonly Row[]): (url: string) => string {
  const masked = routes.flatMap(maskedPaths).toSorted((one, other) => other.end.length - one.end.length);
  return (url) => {
    const [path = ''] = url.split('?', 1);
    for (const { start, parameter, end } of masked) {
      const [found] = start.exec(path) ?? [];
      if (found !== undefined && found.length < path.length && path.endsWith(end)) return found + parameter + end;
    }
    return path;
  };
}

function maskedPaths({ path, parameters = {} }: Row): MaskedPath[] {
  return Object.entries(parameters).flatMap(([name, shape]) => {
    if (shape.validate(ADDRESS).error) return [];
    const parameter = `{${name}}`;
    const [before = '', end = ''] = path.split(parameter);
    const start = new RegExp(`^${before.replaceAll('/', '/+').replaceAll(/\{\w+\}/g, '[^/]+')}`, 'i');
    // A path with anything else after the parameter is none of ours.
    return [end, ''].map((one) => ({ start, parameter, end: one }));
  });
}
