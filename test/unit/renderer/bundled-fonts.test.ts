// The faces that come with Billhook: all that the style sheets use, nothing else, each with its licence.
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import { bundledFamilies, fontFiles } from '../../../services/renderer/fonts/fonts.ts';

const families = bundledFamilies();

test('when a family is bundled, then its faces and its licence are there, and nothing else is', () => {
  const named = families.flatMap(({ files, licence }) => [...files, licence]).map((path) => basename(path));
  expect(named.length).toBeGreaterThan(90);
  expect(readdirSync(dirname(families[0]?.licence ?? '')).toSorted()).toEqual(named.toSorted());
});

test.each(families)('when $family is passed on, then its licence allows it and comes along', ({ licence }) => {
  const text = readFileSync(licence, 'utf8');
  expect(text).toMatch(/^Copyright/);
  expect(text).toMatch(/SIL OPEN FONT LICENSE Version 1\.1/i);
});

test.each(fontFiles().map((file) => [basename(file), file]))(
  'when %s is read, then it is one static face with TrueType outlines',
  (_name, file) => {
    const tables = tablesOf(file);
    expect(tables).toEqual(expect.arrayContaining(['glyf', 'loca', 'cmap']));
    expect(tables).not.toContain('fvar');
  },
);

/** The names in the directory of tables (OpenType 1.9, "Font file"). */
function tablesOf(path: string): string[] {
  const file = openSync(path, 'r');
  const head = Buffer.alloc(1024);
  readSync(file, head);
  closeSync(file);
  return Array.from({ length: head.readUInt16BE(4) }, (_, table) =>
    head.toString('latin1', 12 + table * 16, 16 + table * 16),
  );
}
