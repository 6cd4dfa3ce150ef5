// The overlays as kubectl renders them: what only shows once bases, components and patches are put together.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';

// biome-ignore lint/suspicious/noExplicitAny: each kind has another shape, and the schemas are checked by a test of their own.
type Resource = any;

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const withKubectl = hasKubectl ? describe : describe.skip;

function render(overlay: string): Resource[] {
  const text = execFileSync('kubectl', ['kustomize', overlay], { encoding: 'utf8', maxBuffer: 2 ** 24 });
  return parseAllDocuments(text).map((document) => document.toJS());
}

const production = 'deploy/kubernetes/overlays/production';
const one = (resources: Resource[], kind: string, name: string) =>
  resources.filter((resource) => resource.kind === kind && resource.metadata.name === name);

withKubectl('the overlay restore', () => {
  test('when a backup is to be restored, then there are templates of jobs and nothing that runs', () => {
    const restore = render('deploy/kubernetes/overlays/restore');
    const whole = render(production);

    const needed = ['Namespace', 'ServiceAccount', 'ConfigMap', 'NetworkPolicy', 'CronJob'];
    expect(restore.filter(({ kind }) => !needed.includes(kind))).toEqual([]);
    for (const kind of needed) {
      expect(restore.filter((resource) => resource.kind === kind)).toEqual(
        whole.filter((resource) => resource.kind === kind),
      );
    }
    expect(one(restore, 'CronJob', 'admin')).toHaveLength(1);
  });
});

withKubectl('the configuration', () => {
  /** The name of the configuration, and by which name each deployment reads one. */
  function configurationIn(resources: Resource[]) {
    const [{ metadata }, ...others] = resources.filter(({ kind }) => kind === 'ConfigMap');
    expect(others).toEqual([]);
    const pods = resources
      .map(({ spec }) => (spec?.jobTemplate?.spec ?? spec)?.template?.spec)
      .filter((pod) => pod?.containers?.[0].envFrom);
    return { name: metadata.name, read: pods.map(({ containers }) => containers[0].envFrom[0].configMapRef.name) };
  }

  test('when a value is changed in an overlay, then every pod that reads it is replaced', () => {
    const folder = mkdtempSync(join(tmpdir(), 'billhook-overlay-'));
    const changed = `configMapGenerator: [{ name: billhook, behavior: merge, literals: [LOG_LEVEL=debug] }]`;
    try {
      writeFileSync(
        join(folder, 'kustomization.yaml'),
        `resources: [${relative(folder, production)}]\nnamespace: billhook\n${changed}\n`,
      );
      const [before, after] = [render(production), render(folder)].map(configurationIn);

      expect(before?.read).toEqual(Array(8).fill(before?.name));
      expect(after?.read).toEqual(Array(8).fill(after?.name));
      expect(after?.name).not.toBe(before?.name);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('when resources without the name of a service are applied first, then these are configuration and policies, and no pod', () => {
    const first = render(production).filter(({ metadata }) => !metadata.labels?.['app.kubernetes.io/name']);

    expect(first.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['Namespace', 'ConfigMap', 'NetworkPolicy']));
    expect(first.filter(({ spec }) => spec?.template !== undefined)).toEqual([]);
  });
});
