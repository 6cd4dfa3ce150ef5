// `npm run chart -- --out FOLDER`: writes the Helm chart into FOLDER/billhook, or with --archive as one file that helm installs.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { writeChart } from './write-chart.ts';

const options = {
  out: { type: 'string', default: 'dist' },
  archive: { type: 'boolean', default: false },
} as const;
const { values } = parseArgs({ options });
const written = values.archive ? await archive(values.out) : await writeChart(values.out);
process.stdout.write(`${written}\n`);

async function archive(out: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'billhook-chart-'));
  try {
    const chart = await writeChart(folder);
    const { version } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'));
    const file = resolve(out, `billhook-chart-${version}.tgz`);
    mkdirSync(dirname(file), { recursive: true });
    execFileSync('tar', ['-czf', file, '-C', folder, basename(chart)]);
    return file;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
