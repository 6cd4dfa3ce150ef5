// Verdicts on a noisy neighbour: a row that measured nothing misses its target.
import { expect, test } from '@jest/globals';
import { judge, type Measured } from '../../../lab/noisy-neighbour/judge.ts';
import { noWaits } from '../../../lab/noisy-neighbour/victim.ts';

const measured: Measured = {
  name: 'any',
  finding: '',
  alone: { ...noWaits(), records: [10], documents: [20] },
  beside: { ...noWaits(), records: [30], documents: [100] },
  seen: {
    gatewayMegabytes: 768,
    rendererMegabytes: 1_024,
    livezMs: 250,
    busy: { gateway: 0, renderer: 0, stores: 0, neighbour: 0 },
  },
  requests: 1,
};

test('when everything is at its target, then nothing is missed', () => {
  expect(judge(measured)).toEqual([]);
});

test.each([
  ['records waited longer', { beside: { ...measured.beside, records: [30.1] } }, ['records']],
  ['documents waited longer', { beside: { ...measured.beside, documents: [100.1] } }, ['documents']],
  ['no record was read', { beside: { ...measured.beside, records: [] } }, ['records']],
  ['a request was rejected', { beside: { ...measured.beside, refused: new Map([[429, 1]]) } }, ['refused']],
  ['the neighbour did nothing', { requests: 0 }, ['neighbour']],
])('when %s, then that is missed', (_name, differs, missed) => {
  expect(judge({ ...measured, ...differs })).toEqual(missed);
});
