// `npm run breaks`: prints documents of every length in every look and counts those whose pages break badly. `--help` says how.
import { findChromium } from '../../deploy/backends/chromium.ts';
import { showProgress } from '../../deploy/backends/progress.ts';
import {
  BREAK_CASES,
  type BreakCase,
  breakFaults,
  documentOf,
  KINDS,
} from '../../test/support/renderer/page-breaks.ts';
import { openPrinter } from '../../test/support/renderer/print-directly.ts';
import { readPdfTexts } from '../../test/support/renderer/read-pdf-texts.ts';
import { readCommandLine } from '../command-line.ts';

const HELP = `Prints documents of every length in every look, and counts those whose pages break badly.

Usage: npm run breaks -- [options]

  --longest N   lines of the longest document (default 120)

Ends with 1 when a document breaks badly.
`;

const { values } = readCommandLine(HELP, { options: { longest: { type: 'string', default: '120' } } });
const longest = Number(values.longest);
const chromium = await findChromium({ env: process.env, progress: showProgress(process.stderr) });
const printer = await openPrinter(chromium.command);
const faulty: string[] = [];
try {
  for (const kind of KINDS) {
    const cases = BREAK_CASES.filter((one) => one.kind === kind);
    const counts = new Map<string, number>();
    let printed = 0;
    for (const one of cases) {
      for (let length = 1; length <= longest; length += 1) {
        printed += 1;
        for (const fault of await faultsOf(length, one)) {
          counts.set(fault, (counts.get(fault) ?? 0) + 1);
          faulty.push(`${fault}: ${length} lines, ${Object.values(one).join(', ')}`);
        }
      }
    }
    const found = [...counts].map(([fault, count]) => `${fault} ${count}`).join(', ');
    process.stdout.write(`${kind.padEnd(16)} ${printed} documents: ${found || 'no fault'}\n`);
  }
} finally {
  await printer.close();
}
for (const line of faulty.slice(0, 40)) process.stdout.write(`  ${line}\n`);
process.exitCode = faulty.length > 0 ? 1 : 0;

async function faultsOf(length: number, one: BreakCase): Promise<string[]> {
  const { pages } = await readPdfTexts(await printer.print(documentOf(length, one)));
  return breakFaults(pages);
}
