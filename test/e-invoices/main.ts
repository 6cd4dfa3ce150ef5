// Makes every case in every format with the product's code, and judges all of them by the official rules: npm run e-invoices.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { FORMAT_NAMES, type FormatName, formatOf } from '#libs/e-invoice/formats.ts';
import { missingIn } from '#libs/e-invoice/missing.ts';
import { writeEInvoice } from '#libs/e-invoice/write.ts';
import { type Case, cases, randomCase } from './cases.ts';
import { writePdfs } from './pdf-files.ts';
import { removals } from './removals.ts';
import { termsOfCase } from './terms-of-case.ts';

const VALIDATOR = fileURLToPath(new URL('validator', import.meta.url));
const CANNOT_RUN = 2;
const RANDOM = 150;
/** `--sample` judges the cases alone, and a few PDFs. */
const isSample = process.argv.includes('--sample');
/** The XML in a PDF is that of another format, unless it has a profile of its own. */
const WRITTEN = FORMAT_NAMES.filter((name) => !formatOf(name).embedded || formatOf(name).profile);
/** A program that ends after a minute gains nothing from more compilers and collectors. */
const JAVA_FLAGS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
const LONGEST_OUTPUT = 256 * 2 ** 20;

interface Verdict {
  file: string;
  valid: boolean;
  rules: string[];
  findings: { level: string; rule: string; text: string }[];
}

for (const program of ['java', 'mvn']) {
  if (spawnSync(program, ['-version']).error) {
    process.stderr.write(`e-invoices: ${program} is not installed, so nothing was judged\n`);
    process.exit(CANNOT_RUN);
  }
}
if (!existsSync(join(VALIDATOR, 'target/classes'))) {
  process.stderr.write('building the validator from Maven Central\n');
  const built = spawnSync('mvn', ['-q', '-B', 'package'], { cwd: VALIDATOR, stdio: ['ignore', 2, 2] });
  if (built.status !== 0) {
    process.stderr.write('e-invoices: the validator cannot be built, so nothing was judged\n');
    process.exit(CANNOT_RUN);
  }
}

const folder = await mkdtemp(join(tmpdir(), 'billhook-e-invoices-'));
try {
  process.exitCode = await judge(folder);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function judge(into: string): Promise<number> {
  const seed = Number(process.env['FAST_CHECK_SEED'] ?? Date.now() % 2 ** 31);
  process.stdout.write(`random documents of FAST_CHECK_SEED=${seed}\n`);
  const expected = new Map<string, { name: string; format: FormatName | 'PDF'; missing: string[] }>();
  const all: [string, Case][] = [...Object.entries(cases), ...(isSample ? [] : [...removals(), ...random(seed)])];
  for (const [index, [name, one]] of all.entries()) {
    const terms = termsOfCase(one);
    for (const format of WRITTEN) {
      const file = `${index}.${format}.xml`;
      const missing = missingIn(terms, format).map(({ path, message }) => `${path.join('.')} ${message}`);
      await writeFile(join(into, file), writeEInvoice(terms, format));
      expected.set(file, { name, format, missing });
    }
  }
  const pdfs = await writePdfs(into, { isSample, seed });
  for (const [file, { name, isBroken }] of pdfs) {
    expected.set(file, { name, format: 'PDF', missing: isBroken ? ['it is broken'] : [] });
  }
  const verdicts = validate(into, [...expected.keys()]);
  const wrong = verdicts.flatMap(({ file, valid, findings }) => {
    const { name, format, missing } = expected.get(file) as NonNullable<ReturnType<typeof expected.get>>;
    if (valid === (missing.length === 0)) return [];
    const said = valid
      ? `we say ${missing.join('; ')}`
      : findings.map(({ rule, text }) => `${rule} ${text}`).join('; ');
    return [`${name} as ${format}: the rules say ${valid ? 'valid' : 'invalid'}, ${said}`];
  });
  for (const line of wrong) process.stdout.write(`${line}\n`);
  process.stdout.write(matrixOf(verdicts, expected));
  const valid = verdicts.filter((verdict) => verdict.valid).length;
  const refused = verdicts.length - valid;
  const warned = verdicts.filter((verdict) => verdict.valid && verdict.findings.length > 0).length;
  const rules = [...new Set(verdicts.flatMap((verdict) => verdict.rules))].toSorted().join(', ');
  process.stdout.write(`rules: ${rules}\n`);
  process.stdout.write(
    `${all.length} documents in ${WRITTEN.length} formats and ${pdfs.size} PDFs: ${valid} valid (${warned} with warnings), ${refused} refused as we say, ${wrong.length} judged otherwise\n`,
  );
  return wrong.length === 0 && verdicts.length === expected.size ? 0 : 1;
}

/** Returns the verdict of each case in each format as a table: valid, valid with a warning (w), refused (–). */
function matrixOf(verdicts: readonly Verdict[], expected: ReadonlyMap<string, { name: string; format: string }>) {
  const found = new Map(
    verdicts.map(({ file, valid, findings }) => {
      const { name, format } = expected.get(file) as { name: string; format: string };
      return [`${name} ${format}`, valid ? (findings.length > 0 ? 'w' : 'valid') : '–'];
    }),
  );
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  return [
    row(['case', ...WRITTEN]),
    row(Array(WRITTEN.length + 1).fill('---')),
    ...Object.keys(cases).map((name) => row([name, ...WRITTEN.map((format) => found.get(`${name} ${format}`) ?? '')])),
  ].join('');
}

function random(seed: number): [string, Case][] {
  return fc.sample(randomCase, { numRuns: RANDOM, seed }).map((one, index) => [`random document ${index}`, one]);
}

function validate(from: string, files: readonly string[]): Verdict[] {
  const { stdout, status, stderr } = spawnSync(
    'java',
    [
      ...JAVA_FLAGS,
      '-cp',
      `${join(VALIDATOR, 'target/classes')}:${join(VALIDATOR, 'target/lib/*')}`,
      'ValidateInvoices',
      '-',
    ],
    { cwd: from, input: files.map((file) => join(from, file)).join('\n'), encoding: 'utf8', maxBuffer: LONGEST_OUTPUT },
  );
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
  if (lines.length !== files.length) throw new Error(`the validator ended with ${status}: ${stderr.slice(-2_000)}`);
  return lines.map((line) => JSON.parse(line) as Verdict);
}
