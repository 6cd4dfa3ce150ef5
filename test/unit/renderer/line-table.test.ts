// How lines become a table: which columns there are, which lines may break over pages, and which ones stay with the sum.
import { describe, expect, test } from '@jest/globals';
import { type LineView, lineTable } from '../../../services/renderer/document/line-table.ts';

const LOOKS = { textScale: 1, isSigned: false };
const amount = { before: '', symbol: '$', after: '1.00' };

function aLine(given: Partial<LineView> = {}): LineView {
  return { description: 'Work', qty: '1', rate: amount, discount: '', taxRate: '', amount, ...given };
}

function tableOf(lines: LineView[], looks = LOOKS) {
  const table = lineTable(lines, looks);
  if (!table) throw new Error('there is no table');
  return table;
}

test('when there are no lines, then there is no table', () => {
  expect(lineTable([], LOOKS)).toBeUndefined();
});

test('when no line has a quantity, a rate or a discount, then there is no column for it', () => {
  expect(tableOf([aLine({ qty: '', rate: undefined }), aLine({ qty: '', rate: undefined })])).toMatchObject({
    hasQty: false,
    hasRate: false,
    hasDiscounts: false,
    columns: 2,
  });
  expect(tableOf([aLine({ qty: '' }), aLine({ discount: '5%' })])).toMatchObject({
    hasQty: true,
    hasDiscounts: true,
    columns: 5,
  });
});

test.each([
  [1, 1],
  [2, 2],
  [3, 3],
  [4, 2],
  [120, 2],
])('when there are %d short lines, then %d stay with the sum', (count, last) => {
  const table = tableOf(Array.from({ length: count }, () => aLine()));

  expect([table.lines.length, table.last.length]).toEqual([count - last, last]);
});

test('when the last lines are tall, then fewer stay with the sum, and still fewer with a signature', () => {
  const high = aLine({ description: 'A line\n'.repeat(8) });

  expect(tableOf([high, high, high, high]).last).toHaveLength(2);
  expect(tableOf([high, high, high, high], { textScale: 1, isSigned: true }).last).toHaveLength(1);
});

describe('a line taller than a quarter of a page', () => {
  test('when it has many details, then its item stands beside the numbers and the details may break', () => {
    const [line] = tableOf([aLine({ description: `Relaunch\n${'Package\n'.repeat(20)}` })]).last;

    expect(line).toMatchObject({ item: 'Relaunch', overflow: '', details: 'Package\n'.repeat(20) });
  });

  test.each([
    ['words', 'word '.repeat(400)],
    ['one word', 'W'.repeat(2_000)],
    ['ideographs', '設計'.repeat(500)],
  ])('when it is one paragraph of %s, then nothing of it is lost', (_what, description) => {
    const [line] = tableOf([aLine({ description })]).last;

    expect(line?.item.length).toBeGreaterThan(20);
    expect(`${line?.item}${line?.overflow}`.replaceAll(' ', '')).toBe(description.replaceAll(' ', ''));
  });

  test('when it is second to last, then it does not stay with the sum', () => {
    const long = aLine({ description: 'Package\n'.repeat(30) });

    expect(tableOf([aLine(), aLine(), long, aLine()]).last).toHaveLength(1);
  });

  test('when text is set larger, then a line is tall sooner', () => {
    const line = aLine({ description: 'Package\n'.repeat(11) });

    expect(tableOf([line]).last[0]?.overflow).toBeUndefined();
    expect(tableOf([line], { textScale: 1.2, isSigned: false }).last[0]?.overflow).toBe('');
  });
});
