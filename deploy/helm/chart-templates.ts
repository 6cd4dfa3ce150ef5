// Turns the manifests of deploy/kubernetes into the templates of the chart. The manifests stay the only source: the chart
// has no object of a service that they do not have.
import { changeObject } from './changes.ts';
import { type KubernetesObject, readObjects } from './objects.ts';
import { expressions } from './template.ts';

/** The components that have objects, and the value that switches each on. */
const COMPONENTS: Readonly<Record<string, string>> = {
  backup: '.Values.backup.enabled',
  'gateway-api': '.Values.gatewayApi.enabled',
  ingress: '.Values.ingress.enabled',
  keda: '.Values.keda.enabled',
  monitoring: '.Values.monitoring.enabled',
  priority: '.Values.priority.create',
  stores: '.Values.stores.enabled',
};

/** Objects that are there in some cases only, beside the condition of their file. */
const CONDITIONS: Readonly<Record<string, string>> = {
  'HorizontalPodAutoscaler/gateway': '.Values.gateway.autoscaling.enabled',
  'Ingress/billhook': '.Values.ingress.api.enabled',
  'Ingress/portal': '.Values.ingress.portal.enabled',
  'HTTPRoute/billhook': '.Values.gatewayApi.api.enabled',
  'HTTPRoute/portal': '.Values.gatewayApi.portal.enabled',
  'PersistentVolumeClaim/backups': 'not .Values.backup.existingClaim',
};

/** Returns the templates by their file names. */
export function chartTemplates(): Map<string, string> {
  const base = [...readObjects('base')]
    // Helm makes the namespace, or finds it.
    .filter(([name]) => name !== 'namespace')
    .map(([name, objects]) => [`${name}.yaml`, objects.map(templateOf).join('---\n')] as const);
  const components = Object.entries(COMPONENTS).flatMap(([component, condition]) =>
    [...readObjects(`components/${component}`)].map(
      ([name, objects]) =>
        [`${component}-${name}.yaml`, when(condition, objects.map(templateOf).join('---\n'))] as const,
    ),
  );
  return new Map([...base, ...components, ['migrate-hook.yaml', migrateHook()]]);
}

/** Returns the job that makes the indexes of a version before its services come: what roll-out.sh makes of the template of jobs. */
function migrateHook(): string {
  const [cronJob] = readObjects('base').get('migrate') ?? [];
  const expression = expressions();
  const { metadata, spec } = changeObject(cronJob, expression);
  const annotations = {
    'helm.sh/hook': 'pre-upgrade',
    'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
  };
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...metadata, annotations },
    spec: spec.jobTemplate.spec,
  };
  return when('.Values.migrate.beforeUpgrade', expression.write(job));
}

function templateOf(object: KubernetesObject): string {
  const expression = expressions();
  const text = expression.write(changeObject(object, expression));
  const condition =
    object.kind === 'NetworkPolicy'
      ? '.Values.networkPolicies.enabled'
      : CONDITIONS[`${object.kind}/${object.metadata.name}`];
  return condition ? when(condition, text) : text;
}

function when(condition: string, text: string): string {
  return `{{- if ${condition} }}\n${text}{{- end }}\n`;
}
