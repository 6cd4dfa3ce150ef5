// Names must not contain terminal control characters or reversed text.
import { expect, test } from '@jest/globals';
import { isPlainName, isPrintable } from '#libs/printable.ts';

test.each(['Ada', 'Łódź', 'שלום', 'a\u200eb', 'مرحبا\u200f', '日本', 'tab\tand'])(
  'when it is %j, then it is a name',
  (text) => {
    expect(isPlainName(text)).toBe(true);
  },
);

test.each(['ok\u009b31mRED', 'title\u009c', 'nel\u0085', '\u0080', '\u001b[31m', '\ud800'])(
  'when it is %j, then it is rejected in every text',
  (text) => {
    expect(isPrintable(text)).toBe(false);
    expect(isPlainName(text)).toBe(false);
  },
);

test.each(['\u202eevil', 'a\u2066b\u2069', '\u202a'])(
  'when it is %j, then it is rejected as a name and accepted as text',
  (text) => {
    expect(isPlainName(text)).toBe(false);
    expect(isPrintable(text)).toBe(true);
  },
);
