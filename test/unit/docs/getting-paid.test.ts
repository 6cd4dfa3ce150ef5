// The guide from work to money: every request and every field it shows is one of the API.
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { makeOpenApi } from '../../../services/gateway/reference/openapi.ts';
import { routeTable } from '../../support/route-table.ts';

const text = readFileSync('docs/getting-paid.md', 'utf8');
const { paths, components } = await makeOpenApi(routeTable, '0.0.0');

/** The names of all properties in a part of the document. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null) return [];
  const { properties, ...rest } = value as { properties?: object };
  return [
    ...Object.keys(properties ?? {}),
    ...Object.values(properties ?? {}).flatMap(namesIn),
    ...namesIn(Object.values(rest)),
  ];
}

test('when it shows a request, then the API has that operation', () => {
  const shown = [...text.matchAll(/\b(GET|POST|PATCH|PUT|DELETE) +(\/[a-z-]+(?:\/[\w{}-]+)*)/g)];
  expect(shown.length).toBeGreaterThan(20);
  const missing = shown.filter(([, method = '', path = '']) => {
    const operations = (paths as Record<string, object>)[`/api/v1${path}`] ?? {};
    return !Object.hasOwn(operations, method.toLowerCase());
  });
  expect(missing.map(([request]) => request)).toEqual([]);
});

test('when it shows a field of a request or response, then the API has that field', () => {
  const fields = new Set(namesIn([paths, components]));
  const shown = new Set([...text.matchAll(/"(\w+)": ?[^"]/g)].map(([, name = '']) => name));
  expect(shown.size).toBeGreaterThan(40);
  expect([...shown].filter((name) => !fields.has(name))).toEqual([]);
});
