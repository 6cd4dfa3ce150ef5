// The overlays as kubectl renders them: what only shows once bases, components and patches are put together.
import { execFileSync, spawnSync } from 'node:child_process';
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
  test('when a backup is to be restored, then the administrator runs and nothing else', () => {
    const restore = render('deploy/kubernetes/overlays/restore');
    const whole = render(production);

    const needed = ['Namespace', 'ConfigMap', 'NetworkPolicy'];
    expect(restore.filter(({ kind }) => !needed.includes(kind))).toMatchObject([
      { kind: 'Deployment', metadata: { name: 'admin', namespace: 'billhook' }, spec: { replicas: 1 } },
    ]);
    for (const kind of needed) {
      expect(restore.filter((resource) => resource.kind === kind)).toEqual(
        whole.filter((resource) => resource.kind === kind),
      );
    }
    const [admin] = one(restore, 'Deployment', 'admin');
    expect(admin.spec.template).toEqual(one(whole, 'Deployment', 'admin')[0].spec.template);
  });
});
