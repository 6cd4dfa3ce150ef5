// The fields of URLs: one form, with a message that says what is expected.
import { expect, test } from '@jest/globals';
import { imageUrl, webUrl } from '../../../services/gateway/fields/url-input.ts';

const PNG = 'data:image/png;base64,aGk=';

test.each(['https://example.com/a', 'http://10.0.0.1:8080/?q=1'])(
  'when it is %s, then both fields accept it as it is',
  (url) => {
    expect(webUrl().validate(url)).toEqual({ value: url });
    expect(imageUrl(100).validate(url)).toEqual({ value: url });
  },
);

test.each([
  'https:x',
  ' https://example.com',
  'https://example.com/\u0000',
  'https://example.com/\ud800',
  'https://example.com/a\nb',
])('when it is %j, then both fields reject it and say what they expect', (url) => {
  expect(webUrl().validate(url).error?.message).toBe('"value" must be an http(s) URL');
  expect(imageUrl(100).validate(url).error?.message).toMatch(
    /must be an http\(s\) URL or a base64 data URI of an image$/,
  );
});

test('when it is an image in a data URI, then only the field of an image accepts it, up to its length', () => {
  expect(webUrl().validate(PNG).error).toBeDefined();
  expect(imageUrl(PNG.length).validate(PNG).error).toBeUndefined();
  expect(imageUrl(PNG.length - 1).validate(PNG).error).toBeDefined();
});
