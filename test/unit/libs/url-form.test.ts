// The one form of URLs that callers give.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isDataUri, isWebUrl, URL_LONGEST } from '#libs/outbound/url-form.ts';
import { runs } from '../../support/form.ts';

describe('web URL', () => {
  test.each([
    'https://example.com',
    'HTTP://example.com:8080/a/b?c=d#e',
    'https://münchen.example/straße?q=ü',
    'https://example.com/a%20b',
    'http://[::1]:9/hook',
  ])('when it is %s, then it is a web URL', (url) => {
    expect(isWebUrl(url)).toBe(true);
  });

  test.each([
    'https://x.example/\ud800\u0000',
    'https://x.example/\u0000',
    'https://x.example/\ud800',
    ' https://x.example',
    'https://x.example ',
    'https://x.example/a b',
    'https://x.example/a\nb',
    'htt\tps://x.example',
    '\u00a0https://x.example',
    'https://x.example/\u202egnp.exe',
    'https:x',
    'https:/x.example',
    'https:\\\\x.example',
    'https://x.example\\@y.example',
    '//x.example',
    'x.example',
    'ftp://x.example',
    'javascript:alert(1)',
    'https://',
    '',
    `https://x.example/${'a'.repeat(URL_LONGEST)}`,
  ])('when it is %j, then it is no web URL', (url) => {
    expect(isWebUrl(url)).toBe(false);
  });

  test('when it is a web URL, then a URL parser changes nothing but the spelling of its characters', () => {
    const harmless = ['a', '0', 'ü', '日', '%20', '/', '?', '&', '=', '#', '@', ':'];
    const harmful = [' ', '\t', '\n', '\u0000', '\u00a0', '\u202e', '\u2028', '\ud800', '\\'];
    const piece = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...harmless) }, fc.constantFrom(...harmful));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = `https://x.example/${pieces.join('')}`;
        const isHarmful = pieces.some((one) => harmful.includes(one));
        expect(isWebUrl(text)).toBe(!isHarmful);
        if (!isHarmful) expect(decodeURI(new URL(text).href)).toBe(decodeURI(text));
      }),
      runs(2_000),
    );
  });
});

test('when a data URI is checked, then its form and its media type decide', () => {
  expect(isDataUri('data:image/png;base64,aGk=')).toBe(true);
  expect(isDataUri('data:image/svg+xml;charset=utf-8;base64,aGk=', 'image')).toBe(true);
  expect(isDataUri('data:text/html;base64,aGk=', 'image')).toBe(false);
  expect(isDataUri('data:image/png;base64,aGk=\n')).toBe(false);
  expect(isDataUri(' data:image/png;base64,aGk=')).toBe(false);
  expect(isDataUri('data:image/png,hi')).toBe(false);
});
