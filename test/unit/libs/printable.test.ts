// Names and lines must not contain terminal control characters or reversed text, nor names what cannot be seen.
import { expect, test } from '@jest/globals';
import { isPlainLine, isPlainName, isPrintable } from '#libs/printable.ts';

test.each(['Ada', 'Łódź', 'שלום', 'a\u200eb', 'مرحبا\u200f', '日本', 'می\u200cخواهم', 'tab\tand'])(
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
  'when it is %j, then it is rejected as a line and accepted as text',
  (text) => {
    expect([isPlainLine(text), isPlainName(text)]).toEqual([false, false]);
    expect(isPrintable(text)).toBe(true);
  },
);

test.each(['A\u200bda', 'Ada\u061c', '\ufeffAda', 'A\u2060da', 'A\u00adda'])(
  'when it is %j, then it is rejected as a name and accepted as a line',
  (text) => {
    expect([isPlainLine(text), isPlainName(text)]).toEqual([true, false]);
  },
);
