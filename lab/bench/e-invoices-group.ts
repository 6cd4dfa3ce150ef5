// E-invoices: processor time of what comes after the print of one page. There is no floor: each row has a limit of its own.
import { cpuUsage } from 'node:process';
import { median } from 'es-toolkit/math/median';
import { embedXml } from '#libs/e-invoice/embed.ts';
import { formatOf } from '#libs/e-invoice/formats.ts';
import { writeEInvoice } from '#libs/e-invoice/write.ts';
import { archiveFile } from '#libs/pdf/archive.ts';
import { accessiblePdf } from '../../services/renderer/pdf/accessible.ts';
import { type Case, cases } from '../../test/e-invoices/cases.ts';
import { termsOfCase } from '../../test/e-invoices/terms-of-case.ts';
import { aRecord } from '../../test/support/renderer/documents.ts';
import { openPrinter } from '../../test/support/renderer/print-directly.ts';
import type { BenchOptions } from './main.ts';
import { progress } from './progress.ts';
import { type Row, row } from './rows.ts';

const ROUNDS = 9;
const REPETITIONS = 200;
/** The most milliseconds that a document may take. */
const LIMITS = { xml: 1, hybrid: 2, accessible: 30 };
const EMBEDDED = formatOf('facturx').embedded;

/** In these rows the floor is the limit. */
export async function* bench({ chromiumPath }: BenchOptions): AsyncGenerator<Row[]> {
  const one = cases['plain'] as Case;
  if (!EMBEDDED) throw new Error('Factur-X stands in a PDF');
  const embedded = EMBEDDED;
  const printer = await openPrinter(chromiumPath);
  try {
    const pages = await printer.print(aRecord());
    const tagged = await printer.print(aRecord({ accessible: true }));
    // The prints of Chromium, before anything was added to them.
    const [plain, structured] = [pages, tagged].map((pdf) => pdf.subarray(0, pdf.indexOf('%%EOF\n') + 6));
    const description = { author: 'Studio North', language: 'en-GB', isAccessible: false };
    const xml = Buffer.from(writeEInvoice(termsOfCase(one), 'facturx'));
    yield [
      limited(
        'record to terms to XML, CII',
        LIMITS.xml,
        await cpuMsOf(() => writeEInvoice(termsOfCase(one), 'en16931-cii')),
      ),
      limited(
        'record to terms to XML, UBL',
        LIMITS.xml,
        await cpuMsOf(() => writeEInvoice(termsOfCase(one), 'xrechnung-ubl')),
      ),
      limited(
        'PDF/A-3b with XML, after the print',
        LIMITS.hybrid,
        await cpuMsOf(() => embedXml(archiveFile(plain as Buffer, description), xml, embedded)),
      ),
      limited(
        'PDF/A-3a and PDF/UA-1, after the print',
        LIMITS.accessible,
        await cpuMsOf(async () =>
          archiveFile(await accessiblePdf(structured as Buffer), { ...description, isAccessible: true }),
        ),
      ),
    ];
  } finally {
    await printer.close();
  }
}

function limited(name: string, limit: number, ours: number): Row {
  return row(`${name}, processor time`, 'ms', ours, limit, ['≤', 1]);
}

/** @returns milliseconds of one repetition, the middle of all rounds after the first. */
async function cpuMsOf(work: () => unknown): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    progress(`e-invoices: round ${round} of ${ROUNDS}`);
    const before = cpuUsage();
    for (let count = 0; count < REPETITIONS; count += 1) await work();
    const { user, system } = cpuUsage(before);
    if (round > 0) rounds.push((user + system) / 1_000 / REPETITIONS);
  }
  return median(rounds);
}
