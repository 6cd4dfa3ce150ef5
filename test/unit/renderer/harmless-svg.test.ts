// An SVG of a caller loses what runs and what names other files, also where removing one part makes another.
import { expect, test } from '@jest/globals';
import { harmlessSvg, kindOf } from '../../../services/renderer/images/image-kind.ts';

const cleaned = (inner: string) => harmlessSvg(Buffer.from(`<svg>${inner}</svg>`)).toString();

test.each([
  ['a script', '<script>alert(1)</script>'],
  ['a script inside a name', '<scr<include/>ipt>alert(1)</script>'],
  ['a handler', '<rect onload="alert(1)"/>'],
  ['a handler inside a name', '<rect on@import;load="alert(1)"/>'],
  ['a file', '<image href="file:///etc/passwd"/>'],
  ['a file inside a name', '<image hr@import;ef="file:///etc/passwd"/>'],
])('when it has %s, then that is gone', (_what, inner) => {
  expect(cleaned(inner)).not.toMatch(/<script|onload|file:/);
});

test('when it refers to its own parts and has an image in it, then it stays as it is', () => {
  const inner = '<use href="#a"/><image href="data:image/png;base64,AAAA"/><rect fill="url(#b)"/>';
  expect(cleaned(inner)).toBe(`<svg>${inner}</svg>`);
  expect(kindOf(Buffer.from(cleaned(inner)))).toBe('SVG');
});
