// The manifests of kinds that controllers bring (KEDA, the Prometheus operator, Gateway API), against the models of these kinds.
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { testWith } from '../../support/clients/described-system.ts';
import { npmTool } from '../../support/clients/tools.ts';
import { CUSTOM_KINDS, manifest, manifests } from '../../unit/deploy/manifests.ts';

type Kind = (typeof CUSTOM_KINDS)[number];
type Model = new (body: unknown) => { validate(): void };

const MODELS = await npmTool('kubernetes-models-2026-11', [
  '@kubernetes-models/gateway-api@2.0.0',
  '@kubernetes-models/keda@2.0.0',
  '@kubernetes-models/prometheus-operator@6.0.0',
]);

const FILES: Record<Kind, string> = {
  'gateway.networking.k8s.io/v1 HTTPRoute': 'gateway-api/gateway.networking.k8s.io/v1/HTTPRoute.js',
  'keda.sh/v1alpha1 ScaledObject': 'keda/keda.sh/v1alpha1/ScaledObject.js',
  'monitoring.coreos.com/v1 PrometheusRule': 'prometheus-operator/monitoring.coreos.com/v1/PrometheusRule.js',
  'monitoring.coreos.com/v1 ServiceMonitor': 'prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor.js',
};

for (const kind of CUSTOM_KINDS) {
  testWith(
    [MODELS],
    `when a manifest is a ${kind}, then it is valid, and a spec of another type is not`,
    async (folder) => {
      const found = manifests.filter((one) => `${one.apiVersion} ${one.kind}` === kind);
      const Model = await modelOf(folder, kind);

      expect(found).not.toEqual([]);
      for (const { body } of found) new Model(body).validate();
      expect(() => new Model({ ...found[0]?.body, spec: 'none' }).validate()).toThrow('spec');
    },
  );
}

testWith([MODELS], 'when a number of a ScaledObject is a word, then its model says which', async (folder) => {
  const wrong = structuredClone(manifest('ScaledObject', 'renderer'));
  wrong.spec.minReplicaCount = 'two';
  const ScaledObject = await modelOf(folder, 'keda.sh/v1alpha1 ScaledObject');

  expect(() => new ScaledObject(wrong).validate()).toThrow('minReplicaCount');
});

async function modelOf(folder: string, kind: Kind): Promise<Model> {
  const exported = await import(join(folder, 'node_modules/@kubernetes-models', FILES[kind]));
  return exported[kind.split(' ')[1] ?? ''];
}
