// Reads the Kubernetes manifests as they stand in the repository, with the file each one comes from.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

const FOLDER = 'deploy/kubernetes';

export interface Manifest {
  file: string;
  kind: string;
  apiVersion: string;
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: each kind has another shape, and the schemas are checked by a test of their own.
  body: any;
}

export interface Kustomization {
  file: string;
  resources?: string[];
  components?: string[];
  patches?: { path?: string; patch?: string; target?: { kind: string; name: string } }[];
  images?: { name: string; newTag: string }[];
}

const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => join(FOLDER, name))
  .sort();

export const kustomizations: Kustomization[] = files
  .filter((file) => file.endsWith('/kustomization.yaml'))
  .map((file) => ({ file, ...parse(readFileSync(file, 'utf8')) }));

/** Files that patch others instead of being manifests. */
export const patchFiles = kustomizations.flatMap(({ file, patches = [] }) =>
  patches.flatMap(({ path }) => (path ? [join(dirname(file), path)] : [])),
);

/** Every file that is neither a kustomization nor a patch. */
export const manifestFiles = files.filter(
  (file) => !file.endsWith('/kustomization.yaml') && !patchFiles.includes(file),
);

export const manifests: Manifest[] = manifestFiles.flatMap((file) =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => {
    // An anchor resolves to one shared object: written out, two places cannot be taken for one.
    const body = JSON.parse(JSON.stringify(document.toJS()));
    return { file, kind: body.kind, apiVersion: body.apiVersion, name: body.metadata.name, body };
  }),
);

/** Kinds that the cluster gets with a controller: test/system/deploy/custom-resources.test.ts checks them. */
export const CUSTOM_KINDS = [
  'gateway.networking.k8s.io/v1 HTTPRoute',
  'keda.sh/v1alpha1 ScaledObject',
  'monitoring.coreos.com/v1 PrometheusRule',
  'monitoring.coreos.com/v1 ServiceMonitor',
] as const;

export function manifest(kind: string, name: string): Manifest['body'] {
  const found = manifests.filter((one) => one.kind === kind && one.name === name);
  if (found.length !== 1) throw new Error(`there are ${found.length} manifests ${kind}/${name}, not one`);
  return found[0]?.body;
}

/** Manifests that run containers, each with its pod's specification. */
export const workloads = manifests.flatMap((one) => {
  // A template of jobs has its pod one step further inside.
  const spec = one.body.spec?.jobTemplate?.spec ?? one.body.spec;
  const pod = spec?.template?.spec;
  return pod?.containers === undefined ? [] : [{ ...one, pod, container: pod.containers[0] }];
});
