// Content that Chromium draws outside of the structure becomes an artifact. Whether a whole file fulfils PDF/UA-1 is judged by `npm run e-invoices`.
import { expect, test } from '@jest/globals';
import { withArtifacts } from '../../../services/renderer/pdf/accessible.ts';

const artifact = (...lines: string[]) => ['/Artifact BMC', ...lines, 'EMC'];

test.each<[what: string, content: string[], rewritten: string[]]>([
  ['a ground', ['q', '0 0 794 60 re', 'f', 'Q'], ['q', ...artifact('0 0 794 60 re', 'f'), 'Q']],
  ['a drawing', ['1 2 m', '3 4 l', 'h', 'S'], artifact('1 2 m', '3 4 l', 'h', 'S')],
  ['a path that clips', ['0 0 9 9 re', 'W* n', '1 g'], ['0 0 9 9 re', 'W* n', '1 g']],
  ['a picture', ['q', '/X7 Do', 'Q'], ['q', ...artifact('/X7 Do'), 'Q']],
  ['a text', ['BT', '/F5 9 Tf', '<0001> Tj', 'ET'], artifact('BT', '/F5 9 Tf', '<0001> Tj', 'ET')],
  [
    'a text with characters beside its glyphs',
    ['BT', '/Span<</ActualText <FEFF0061> >> BDC', '<0001> Tj', 'EMC', 'ET'],
    artifact('BT', '/Span<</ActualText <FEFF0061> >> BDC', '<0001> Tj', 'EMC', 'ET'),
  ],
])('when there is %s outside of the structure, then it is marked', (_what, content, rewritten) => {
  expect(withArtifacts(content.join('\n')).split('\n')).toEqual(rewritten);
});

test.each<[what: string, content: string[]]>([
  ['all of it', ['/P <</MCID 0 >>BDC', '0 0 1 1 re', 'f', 'BT', '<0001> Tj', 'ET', '/X1 Do', 'EMC']],
  ['a part of a text', ['BT', '/F5 9 Tf', '/P <</MCID 0 >>BDC', '<0001> Tj', 'EMC', 'ET']],
  ['marks within', ['/P <</MCID 0 >>BDC', '/ReversedChars BMC', '<0001> Tj', 'EMC', '/X1 Do', 'EMC']],
])('when %s belongs to the structure, then it stays', (_what, content) => {
  expect(withArtifacts(content.join('\n')).split('\n')).toEqual(content);
});
