// Checks that an error has codes that are declared. Every test that calls a gateway passes here, so the sweeps check it for every operation.
import { ERRORS } from '#libs/errors/declared.ts';
import { PROBLEMS } from '#libs/errors/problems.ts';

interface CodedBody {
  error?: unknown;
  details?: object;
  code?: string;
  problems?: { code: string }[];
}

/** @throws when the error or one of its problems has no code, or one that is not declared. @param what names the request. */
export function requireKnownCodes({ error, details, code = '', problems = [] }: CodedBody, what: string): void {
  const text = `${what}: ${String(error)}`;
  if (!Object.hasOwn(ERRORS, code)) throw new Error(`${text} has the code "${code}", which no error declares`);
  // `invalid` is for problems of joi that joi-problems.ts does not know.
  const unknown = problems.filter(({ code }) => !Object.hasOwn(PROBLEMS, code) || code === 'invalid');
  if (unknown.length > 0) throw new Error(`${text} has problems without a declared code: ${JSON.stringify(unknown)}`);
  const count = Object.values(details ?? {}).flat().length;
  if (count !== problems.length) throw new Error(`${text} has ${count} details, and ${problems.length} problems`);
}
