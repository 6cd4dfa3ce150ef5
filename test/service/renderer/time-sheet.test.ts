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

test.each([
  ['en-GB', 'Hours in detail: page 2', 'Time sheet', 'Hourly rate'],
  ['de-DE', 'Stunden im Einzelnen: Seite 2', 'Zeitnachweis', 'Stundensatz'],
  ['fr-FR', 'Détail des heures : page 2', 'Relevé d’heures', 'Taux horaire'],
  ['es-ES', 'Detalle de las horas: página 2', 'Registro de horas', 'Tarifa por hora'],
  ['it-IT', 'Dettaglio delle ore: pagina 2', 'Rendiconto ore', 'Tariffa oraria'],
  ['nl-NL', 'Uren in detail: pagina 2', 'Urenverantwoording', 'Uurtarief'],
  ['pt-PT', 'Detalhe das horas: página 2', 'Registo de horas', 'Valor por hora'],
  ['ja-JP', '時間の内訳：2ページ', '作業時間明細', '時間単価'],
  ['ar-AE', '2', 'Sketch 3'],
])(
  'when it is written in %s, then the hours are on a second page, which the first one names and leads to',
  async (locale, reference, ...texts) => {
    const pdf = await renderer.read(timed([lineOf(3), { ...lineOf(1), description: 'Design' }], locale));
    const plain = (text = '') => text.normalize('NFKC').replaceAll(/\s+/g, ' ');
    for (const text of texts) expect(plain(pdf.text)).toContain(plain(text));
    expect([pdf.pages.length, pdf.warnings]).toEqual([2, []]);
    expect(plain(pdf.pages[0]?.text)).toContain(plain(reference));
    // Each run of one direction has a link of its own.
    expect(pdf.pages.map(({ linkedPages }) => [...new Set(linkedPages)])).toEqual([[2], []]);
  },
);

test.each([{ accessible: false }, { accessible: true }])(
  'when the document takes several pages and accessible is $accessible, then it names the page on which the hours begin',
  async ({ accessible }) => {
    const lineItems = Array.from({ length: 60 }, (_, index) => ({ description: `Line ${index + 1}`, amount: 1 }));
    const { pages } = await renderer.read(aRecord({ lineItems, time: [lineOf(80)], accessible }));
    const sheet = 1 + pages.findIndex(({ text }) => text.includes('Time sheet'));
    const [reference] = pages.filter(({ text }) => text.includes('Hours in detail'));

    expect(sheet).toBeGreaterThan(2);
    expect(reference?.text).toContain(`Hours in detail: page ${sheet}`);
    expect(reference?.linkedPages).toEqual([sheet]);
  },
);

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
