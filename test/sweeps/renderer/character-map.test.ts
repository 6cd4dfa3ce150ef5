// The characters of each bundled font: what we read from its file is what a font library reads.
import { describe, expect, test } from '@jest/globals';
import { openSync } from 'fontkit';
import { readCharacterMap } from '../../../services/renderer/fonts/character-map.ts';
import { fontFiles, regularFaces } from '../../../services/renderer/fonts/fonts.ts';
import { sampled } from '../../support/form.ts';

const UNICODE = 0x11_0000;
/** No character: it ends the table of format 4, and the library counts it. */
const END_OF_TABLE = 0xff_ff;

describe('bundled fonts', () => {
  test.each(sampled(regularFaces()))(
    'when the characters of $family are read, then they are those that the library finds',
    ({ file }) => {
      const font = openSync(file);
      const known = new Set('characterSet' in font ? font.characterSet : []);
      const hasGlyph = readCharacterMap(file);
      const differing: number[] = [];
      for (let code = 0; code < UNICODE; code += 1) {
        if (code !== END_OF_TABLE && hasGlyph(code) !== known.has(code)) differing.push(code);
      }

      expect(known.size).toBeGreaterThan(50);
      expect(differing).toEqual([]);
    },
  );

  test('when a bundled face is opened, then its outlines are TrueType', () => {
    for (const file of fontFiles()) expect(openSync(file)).toHaveProperty('directory.tables.glyf');
  });
});
