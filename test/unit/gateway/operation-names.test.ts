// The names by which the reference lists the operations.
import { expect, test } from '@jest/globals';
import { makeOpenApi } from '../../../services/gateway/reference/openapi.ts';
import { routes } from '../../../services/gateway/routes.ts';

const WORDS_MAX = 6;

const { paths } = await makeOpenApi(routes, '1.0.0');
const operations = Object.values(paths).flatMap((methods) => Object.values(methods));

test('when an operation is listed, then its name has few words and is no sentence', () => {
  const isLong = ({ summary }: { summary: string }) => summary.split(' ').length > WORDS_MAX || /[,;:.]/.test(summary);
  expect(operations.filter(isLong).map(({ operationId, summary }) => [operationId, summary])).toEqual([]);
});

test('when an operation is listed, then no other has its name', () => {
  const names = operations.map(({ summary }) => summary);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
