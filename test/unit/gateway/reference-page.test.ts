// The tables of fields on the page of the reference.
import { expect, test } from '@jest/globals';
import { makeOpenApi } from '../../../services/gateway/reference/openapi.ts';
import { makePage } from '../../../services/gateway/reference/page.ts';
import { routes } from '../../../services/gateway/routes.ts';

const page = makePage(makeOpenApi(routes, '1.0.0'));

/** Type of a field as its row in the section of an operation or event says. */
function typeIn(id: string, name: string): string | undefined {
  const section = page.slice(page.indexOf(`<section id="${id}">`)).split('</section>', 1)[0] ?? '';
  return section
    .split('<tr>')
    .find((row) => row.replaceAll(/<[^>]+>/g, '').startsWith(name))
    ?.match(/<td>(.*?)<\/td>/)?.[1];
}

test('when a field holds an object or null, then its row says so, and the fields of the object follow', () => {
  expect(typeIn('getAccount', 'data.postal_address')).toBe('object or null');
  expect(typeIn('getAccount', 'data.postal_address.city')).toBe('string or null');
  expect(typeIn('updateAccount', 'electronic_address.scheme')).toMatch(/^string,/);
});

test('when a field holds a list or null, then its row says so', () => {
  expect(typeIn('getAccount', 'data.payment_options')).toBe('array of object or null');
});

test('when a field is of any kind, then its row names more than null', () => {
  expect(page.match(/<td>(?:null|any)<\/td>/g)).toBeNull();
});
