// Published operations keep the order of their parameters and the required fields of their bodies, which generated clients turn into arguments.
import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import { makeOpenApi } from '../../../services/gateway/reference/openapi.ts';
import { routeTable } from '../../support/route-table.ts';

interface Published {
  parameters: string[];
  required: string[];
}

const FILE = new URL('published.json', import.meta.url);
const { paths, components } = JSON.parse(JSON.stringify(await makeOpenApi(routeTable, '0.0.0'))) as {
  // biome-ignore lint/suspicious/noExplicitAny: a document of many shapes, of which this test reads two lists.
  paths: Record<string, Record<string, any>>;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  components: any;
};
const resolved = (part: { $ref?: string } | undefined) =>
  part?.$ref === undefined
    ? part
    : part.$ref
        .slice(2)
        .split('/')
        .reduce((at, name) => at[name], { components } as Record<string, typeof components>);

const current = Object.fromEntries(
  Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .map((operation): [string, Published] => {
      const body = resolved(operation.requestBody?.content?.['application/json']?.schema) as { required?: string[] };
      const parameters = (operation.parameters ?? []).map((one: { $ref?: string }) => {
        const { in: place, name } = resolved(one) as unknown as { in: string; name: string };
        return `${place} ${name}`;
      });
      return [operation.operationId, { parameters, required: body?.required ?? [] }];
    }),
);

const published = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Published>;

/** True when callers of what was published can go on: more parameters come last, and the same fields are required. */
function isKept({ parameters, required }: Published, now: Published | undefined): boolean {
  return (
    isDeepStrictEqual(now?.parameters.slice(0, parameters.length), parameters) &&
    isDeepStrictEqual(now?.required, required)
  );
}

// PUBLISHED=1 adds new operations and parameters. A row that is not kept stays as it was, and so its test stays red.
if (process.env['PUBLISHED'] === '1') {
  const kept = Object.entries(published).filter(([operation, row]) => !isKept(row, current[operation]));
  writeFileSync(FILE, `${JSON.stringify({ ...current, ...Object.fromEntries(kept) }, null, 1)}\n`);
}

test.each(Object.entries(published))(
  'when %s is compared with what was published, then more parameters come last, and the same fields are required',
  (operation, { parameters, required }) => {
    const now = current[operation];

    expect(now?.parameters.slice(0, parameters.length)).toEqual(parameters);
    expect(now?.required).toEqual(required);
  },
);
