// Ends a test run with the slowest files, the backends it used, the cases that were counted and one plain line: `N passed, N failed`.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';

const SLOWEST = 10;

export default class ClosingLine {
  onRunComplete(_contexts, results) {
    // A suite that could not even load has no test of its own to count.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const backends = `Backends: ${process.env.TEST_BACKENDS_DESCRIPTION ?? 'none started'}`;
    const counts = `${results.numPassedTests} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`;
    const cases = countedCases(process.env.TEST_TALLY);
    // The other reporters print their summaries later; this is to be the last line.
    process.once('exit', () => process.stdout.write(`\n${slowestFiles(results)}${backends}\n${cases}${counts}\n`));
  }
}

/** Where the time of a run went; a run of one file needs no list. */
function slowestFiles({ testResults }) {
  if (testResults.length < 2) return '';
  const lines = testResults
    .map(({ testFilePath, perfStats }) => ({ file: relative('', testFilePath), ms: perfStats.end - perfStats.start }))
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, SLOWEST)
    .map(({ file, ms }) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${file}`);
  return `Slowest files:\n${lines.join('\n')}\n`;
}

/** What test/support/form.ts counted, summed up by kind. */
function countedCases(file) {
  if (!file || !existsSync(file)) return '';
  const sums = new Map();
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const [what, cases] = JSON.parse(line);
    sums.set(what, (sums.get(what) ?? 0) + cases);
  }
  rmSync(file);
  return `Cases: ${[...sums].map(([what, cases]) => `${cases.toLocaleString('en')} ${what}`).join(', ')}\n`;
}
