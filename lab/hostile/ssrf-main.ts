// `npm run hostile`: every way to make this system call what only it can reach, layer by layer, as a table. `--help` says how.

import { attackOn, findGround } from '../../test/support/ssrf/ground.ts';
import type { LayerReport } from '../../test/support/ssrf/report.ts';
import { readCommandLine } from '../command-line.ts';

const HELP = `Sends addresses that only the system itself can reach through every input, layer by layer, and counts the calls that come through.

Usage: npm run hostile -- [options]

  --full          every address through every input
  --only LAYER    browser, system or open

Ends with 1 when a call came through, or something else surprised.
`;

const { values } = readCommandLine(HELP, { options: { full: { type: 'boolean' }, only: { type: 'string' } } });
const ground = await findGround();
const hasNetwork = ground.wrapper.length > 0;
process.stdout.write(`Ground: ${ground.description}\n`);
if (!hasNetwork) process.stdout.write('Only attacks on 127.0.0.1 are tried; names and the empty network are NOT.\n');

const reports: LayerReport[] = [];
const args = [
  '--folder',
  ground.folder,
  ...(hasNetwork ? ['--whole-network'] : []),
  ...(values.full ? ['--full'] : []),
  ...(values.only ? ['--only', values.only] : []),
];
const columns = ['attacks', 'hits', 'queries', 'leaks', 'surprises', 'seconds'] as const;
const row = (layer: string, vector: string, cells: string[]) =>
  `${layer.padEnd(46)}${vector.padEnd(46)}${cells.map((cell) => cell.padStart(10)).join('')}\n`;

process.stdout.write(row('what stands in the way', 'the way in', [...columns]));
try {
  await attackOn(ground, args, (line) => {
    const report = line as LayerReport;
    reports.push(report);
    const cells = columns.map((name) => String(Array.isArray(report[name]) ? report[name].length : report[name]));
    process.stdout.write(row(report.layer, report.vector, cells));
    const isExpected = report.layer === 'no wall at all';
    const found = isExpected ? [] : [...report.hits, ...report.queries, ...report.leaks, ...report.surprises];
    for (const text of found.slice(0, 20)) process.stdout.write(`    ${text}\n`);
  });
} finally {
  await ground.remove();
}

const walls = reports.filter(({ layer }) => layer !== 'no wall at all' && layer !== 'control');
const sum = (of: (report: LayerReport) => number) => walls.reduce((total, report) => total + of(report), 0);
const bad = sum(({ hits, queries, leaks }) => hits.length + queries.length + leaks.length);
const odd = reports.reduce(
  (total, { layer, surprises }) => total + (layer === 'no wall at all' ? 0 : surprises.length),
  0,
);
process.stdout.write(
  `\n${sum(({ attacks }) => attacks)} attacks on walls, ${bad} came through, ${odd} other surprises\n`,
);
process.exitCode = bad + odd > 0 ? 1 : 0;
