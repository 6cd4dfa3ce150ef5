// Writes the Helm chart: what is its own, the templates that are made of deploy/kubernetes, and the schema of its values.
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { chartTemplates } from './chart-templates.ts';
import { schemaOf } from './values-schema.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Writes the chart into `billhook` below the folder. @returns its path. */
export async function writeChart(folder: string): Promise<string> {
  const to = join(folder, 'billhook');
  await mkdir(to, { recursive: true });
  await cp(join(import.meta.dirname, 'chart'), to, { recursive: true });
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const chart = parse(await readFile(join(to, 'Chart.yaml'), 'utf8'));
  await writeFile(join(to, 'Chart.yaml'), stringify({ ...chart, version, appVersion: version }));
  const defaults = parse(await readFile(join(to, 'values.yaml'), 'utf8'));
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...schemaOf({ ...defaults, global: {} }) };
  await writeFile(join(to, 'values.schema.json'), `${JSON.stringify(schema, undefined, 2)}\n`);
  for (const [name, text] of chartTemplates()) await writeFile(join(to, 'templates', name), text);
  return to;
}
