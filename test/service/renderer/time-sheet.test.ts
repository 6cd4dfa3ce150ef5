// The hours behind an invoice on paper: on pages of their own, with repeated headers and totals that add up.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PrintableTimeLine } from '#libs/jobs/printable-document.ts';
import { estimatedPages } from '#libs/rules/documents/layout-work.ts';
import { aRecord } from '../../support/renderer/documents.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';

let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer();
});
afterAll(() => renderer.close());

const lineOf = (entries: number): PrintableTimeLine => ({
  description: 'Website: Build',
  hours: String(entries * 2.1),
  billed: String(entries * 2.25),
  rate: '90',
  amount: entries * 202.5,
  entries: Array.from({ length: entries }, (_, index) => ({
    date: `2026-11-${String(1 + (index % 28)).padStart(2, '0')}`,
    description: `Sketch ${index + 1}`,
    hours: '2.1',
    billed: '2.25',
  })),
});
const timed = (time: PrintableTimeLine[], locale = 'en-GB') => aRecord({ locale, time });

const SEE_SHEET =
  /see the time sheet|im Zeitnachweis|voir le relevé|en el registro|il rendiconto|de urenverantwoording|do registo|作業時間明細を/;

test.each([
  ['en-GB', 'Time sheet', 'Hourly rate'],
  ['de-DE', 'Zeitnachweis', 'Stundensatz'],
  ['fr-FR', 'Relevé d’heures', 'Taux horaire'],
  ['es-ES', 'Registro de horas', 'Tarifa por hora'],
  ['it-IT', 'Rendiconto ore', 'Tariffa oraria'],
  ['nl-NL', 'Urenverantwoording', 'Uurtarief'],
  ['pt-PT', 'Registo de horas', 'Valor por hora'],
  ['ja-JP', '作業時間明細', '時間単価'],
  ['ar-AE', 'Sketch 3'],
])('when it is written in %s, then the hours are on a second page, after the invoice', async (locale, ...texts) => {
  const pdf = await renderer.read(timed([lineOf(3), { ...lineOf(1), description: 'Design' }], locale));
  const all = pdf.text.replaceAll(/\s+/g, ' ');
  for (const text of texts) expect(all).toContain(text);
  expect([pdf.pages.length, pdf.warnings]).toEqual([2, []]);
  // The first page says where the hours are.
  if (!locale.startsWith('ar')) expect(pdf.pages[0]?.text.replaceAll(/\s+/g, ' ')).toMatch(SEE_SHEET);
});

test('when 300 entries are printed, then each is there once, and every page of them has the header', async () => {
  for (const locale of ['en-GB', 'ar-AE']) {
    const pdf = await renderer.read(timed([lineOf(300)], locale));
    const found = [...pdf.text.matchAll(/Sketch (\d+)/g)].map(([, number]) => Number(number));
    expect(new Set(found).size).toBe(300);
    expect([found.length, pdf.pages.length > 6 && pdf.pages.length < 16]).toEqual([300, true]);
    if (locale === 'en-GB') {
      expect([...pdf.text.matchAll(/Billed\s+hours/g)]).toHaveLength(pdf.pages.length - 1);
      expect(pdf.text.replaceAll(/\s+/g, ' ')).toMatch(/Total 630\.00 675\.00 €60,750\.00/);
    }
  }
});

test('when the lines were edited, then hours are printed and no amounts', async () => {
  const { rate: _rate, amount: _amount, ...hoursOnly } = lineOf(2);
  const { text } = await renderer.read(timed([hoursOnly]));
  const [, sheet = ''] = text.split('Time sheet');
  expect(sheet).toContain('Sketch 2');
  expect(sheet).not.toContain('€');
});

test('when the time sheet is long, then its pages count like all others, and too many are rejected', async () => {
  const long = lineOf(500);
  long.entries = long.entries.map((entry) => ({ ...entry, description: 'Sketches and talks. '.repeat(100) }));
  expect(estimatedPages(timed([lineOf(300)]))).toBeGreaterThan(8);
  await expect(renderer.print(timed([long]))).rejects.toMatchObject({
    message: expect.stringContaining('pages of work, at most 150 are printed'),
  });
});
