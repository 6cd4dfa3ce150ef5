// Ends a test run with the backends it used and one plain line: `N passed, N failed`.

export default class ClosingLine {
  onRunComplete(_contexts, results) {
    // A suite that could not even load has no test of its own to count.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const backends = `Backends: ${process.env.TEST_BACKENDS_DESCRIPTION ?? 'none started'}`;
    const counts = `${results.numPassedTests} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`;
    // The other reporters print their summaries later; this is to be the last line.
    process.once('exit', () => process.stdout.write(`\n${backends}\n${counts}\n`));
  }
}
