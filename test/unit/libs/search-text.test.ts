// Texts that are the same for a search and for a name that must be unique.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sameName, searchText } from '#libs/search-text.ts';

test.each([
  ['Jos\u00e9', 'jose'],
  ['Jose\u0301', 'jose'],
  ['Stra\u00dfe', 'strasse'],
  ['STRA\u1e9eE', 'strasse'],
  ['\u0141\u00f3d\u017a \u00d8re \u0110ur\u0111a', 'lodz ore durda'],
  ['\u0130stanbul Is\u0131k', 'istanbul isik'],
  ['\u00c6ther \u0152uvre', 'aether oeuvre'],
  ['\u039f\u0394\u039f\u03a3 \u03bf\u03b4\u03cc\u03c2', '\u03bf\u03b4\u03bf\u03c3 \u03bf\u03b4\u03bf\u03c3'],
  ['\uff21\uff42\uff43', 'abc'],
  ['\ufb01n', 'fin'],
  ['\u0419\u043e\u0433\u0443\u0440\u0442', '\u0438\u043e\u0433\u0443\u0440\u0442'],
  // Other words in their scripts, so they stay.
  ['\u304b\u304c', '\u304b\u304c'],
  ['\u0915\u093f', '\u0915\u093f'],
  ['\u6771\u4eac', '\u6771\u4eac'],
])('when %j is searched, then it is compared as %j', (text, folded) => {
  expect(searchText(text)).toBe(folded);
});

test('when a text is folded again, in capitals or decomposed, then nothing changes any more', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom(...'aA\u00e9\u00c9\u00df\u0141\u0142\u0130\u0131\u03a3\u03c2\u0301\u00fc \uff21'),
      }),
      (text) => {
        const folded = searchText(text);
        expect(searchText(folded)).toBe(folded);
        expect(searchText(text.normalize('NFD'))).toBe(folded);
        expect(searchText(text.normalize('NFC'))).toBe(folded);
      },
    ),
  );
});

test('when names differ in case, blanks around them or composition, then they are the same; accents tell them apart', () => {
  expect(sameName(' Kl\u00e4rung')).toBe(sameName('KLA\u0308RUNG '));
  expect(sameName('Kl\u00e4rung')).not.toBe(sameName('Klarung'));
});
