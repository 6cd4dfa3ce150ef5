// Characters that no font has: a visible substitute instead of the font's box, and a warning.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readPdfFile } from '../../../services/renderer/pdf/pdf-file.ts';
import { anInvoice, aQuote, aRecord, STYLES } from '../../support/renderer/documents.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';
import { naughtyStrings } from '../../sweeps/hostile/strings-naughty.ts';

let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer();
});
afterAll(() => renderer.close());

const BOX = '▯';

describe('a character that no face has', () => {
  test.each([
    ['a character of a dead script', 'Tablet 𒀀', ['U+12000']],
    ['a private-use character', 'a\ue000b', ['U+E000']],
    ['a private-use character that a face of another style has', 'a\ue001b', ['U+E001']],
    ['an unassigned character', 'a\u0378b', ['U+0378']],
    ['a noncharacter', 'a\ufdd0b', ['U+FDD0']],
    ['a space that is drawn as a stroke', 'a\u1680b', ['U+1680']],
    ['a mark of a dead script', 'a\u{11234}b', ['U+11234']],
    ['a mark on a letter of another script', '設\u09be', ['U+09BE']],
  ])(
    'when there is %s, then a box is printed in its place, and the warning names it',
    async (_what, notes, missing) => {
      for (const fontStyle of STYLES) {
        const pdf = await renderer.read(anInvoice({ notes, fontStyle }));

        expect(boxesOfFaces(pdf.bytes)).toEqual([]);
        expect(pdf.text).toContain(BOX);
        expect(pdf.warnings).toEqual([`notes: no glyph for ${missing.join(' ')}`]);
      }
    },
  );

  test('when the note of a tax has such a character, then a box is printed in its place, and the warning names it', async () => {
    const taxes = [{ rate: 0, category: 'E' as const, taxable: 100, tax: 0, note: 'Small 𒀀 business' }];
    const pdf = await renderer.read(aRecord({ taxes }));

    expect(boxesOfFaces(pdf.bytes)).toEqual([]);
    expect(pdf.text).toContain(`Small ${BOX} business`);
    expect(pdf.warnings).toContain('taxes.note: no glyph for U+12000');
  });

  test('when markdown has such a character as a numeric reference, then it is found, too', async () => {
    const pdf = await renderer.read(aQuote({ bodyMarkdown: 'a &#x12000; b &lt;&#x0378; c' }));

    expect(boxesOfFaces(pdf.bytes)).toEqual([]);
    expect(pdf.text).toContain(`a ${BOX} b <${BOX} c`);
    expect(pdf.warnings).toEqual(['bodyMarkdown: no glyph for U+12000 U+0378']);
  });

  test('when a name cannot be drawn, then the metadata of the file still has it', async () => {
    expect((await renderer.read(anInvoice({ partnerName: 'Ur 𒀀' }))).info['Author']).toBe('Ur 𒀀');
  });
});

describe('characters that a face has', () => {
  test.each([
    ['letters with combining marks', 'e\u0301 o\u0302\u0323 \u0915\u093c'],
    ['emoji of several characters', '👩‍💻 👨‍👩‍👧 👍🏽 🇩🇪 1️⃣ ❤️ 🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
    ['joiners, direction marks and soft hyphens', 'a\u200db\u200c\u200e\u200f\u2060c\u00add\ufeff'],
    ['spaces of every width', 'a\u2002b\u2003c\u2009d\u200ae\u202ff\u3000g'],
    ['decomposed syllables of Hangul', '\u1112\u1161\u11ab'],
    ['variants of Han characters', '葛\udb40\udd00'],
  ])('when there are %s, then they are drawn without a warning', async (_what, notes) => {
    for (const fontStyle of STYLES) {
      const { bytes, warnings } = await renderer.print(anInvoice({ notes, fontStyle }));

      expect(boxesOfFaces(bytes)).toEqual([]);
      expect(warnings).toEqual([]);
    }
  });
});

test('when the naughtiest strings are printed, then no font shows its box for missing characters', async () => {
  // Control characters are rejected before.
  const strings = naughtyStrings.filter(
    (text) => text.isWellFormed() && !/[^\P{Cc}\t\n]/u.test(text) && text.length < 500,
  );
  expect(strings.length).toBeGreaterThan(400);
  for (let from = 0; from < strings.length; from += 50) {
    const lineItems = strings.slice(from, from + 50).map((description) => ({ description, rate: 0 }));
    const { bytes } = await renderer.print(anInvoice({ lineItems, amount: 0 }));

    expect(boxesOfFaces(bytes)).toEqual([]);
  }
});

/** @returns the texts in which glyph 0 is shown, which is a face's own box: of every page. */
function boxesOfFaces(bytes: Buffer): string[] {
  // Without the incremental update that follows.
  const file = readPdfFile(bytes.subarray(0, bytes.indexOf('%%EOF\n') + 6));
  const contents = file.numbers.flatMap((number) => {
    const found = /^<<\/Type \/Page\n[\s\S]*\/Contents (\d+) 0 R/.exec(file.textOf(number));
    return found ? [file.streamOf(Number(found[1])).toString('latin1')] : [];
  });
  const shown = contents.flatMap((content) => content.match(/<[0-9A-F]+> Tj/g) ?? []);
  if (shown.length === 0) throw new Error('no text was found');
  return shown.filter((text) => text.match(/[0-9A-F]{4}/g)?.includes('0000'));
}
