// Reads the manifests of the base and the components, as kustomize does before it patches them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

const FOLDER = join(import.meta.dirname, '../kubernetes');

// biome-ignore lint/suspicious/noExplicitAny: each kind has another shape, and the schemas are checked by a test.
export type KubernetesObject = any;

/** The name that kustomize gives to the namespace, and that a chart takes from its release. */
export const NAMESPACE = 'billhook';

/** Returns the objects of each file of a folder below deploy/kubernetes, by the name of the file without its extension. */
export function readObjects(folder: string): Map<string, KubernetesObject[]> {
  const names = readdirSync(join(FOLDER, folder)).filter(
    (name) => /\.yaml$/.test(name) && name !== 'kustomization.yaml',
  );
  return new Map(names.sort().map((name) => [name.slice(0, -'.yaml'.length), objectsOf(join(FOLDER, folder, name))]));
}

/** Returns the variables of config.env. */
export function readConfig(): Record<string, string> {
  const lines = readFileSync(join(FOLDER, 'base/config.env'), 'utf8').split('\n');
  return Object.fromEntries(
    lines.filter((line) => /^[A-Z]/.test(line)).map((line) => line.split(/=(.*)/s).slice(0, 2)),
  );
}

function objectsOf(file: string): KubernetesObject[] {
  // An anchor resolves to one shared object: written out, a change of one place is none of another.
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => JSON.parse(JSON.stringify(document.toJS())));
}
