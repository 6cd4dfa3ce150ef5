// Puts the chart's values into the manifests: an object of each kind has its places.
import { type KubernetesObject, NAMESPACE } from './objects.ts';
import type { Expressions } from './template.ts';

type Change = (object: KubernetesObject, expression: Expressions) => void;

const LABEL = 'app.kubernetes.io/name';
const PART_OF = 'app.kubernetes.io/part-of';

/** Services whose number something else decides where a value says so, and that value. */
const SCALED: Readonly<Record<string, string>> = {
  gateway: '.Values.gateway.autoscaling.enabled',
  renderer: '.Values.keda.enabled',
  webhooks: '.Values.keda.enabled',
};

const CHANGES: Readonly<Record<string, Change>> = {
  CronJob: changeCronJob,
  Deployment: changeDeployment,
  HorizontalPodAutoscaler: changeAutoscaler,
  HTTPRoute: changeRoute,
  Ingress: changeIngress,
  NetworkPolicy: changePolicy,
  PersistentVolumeClaim: changeClaim,
  PriorityClass: changePriorityClass,
  PrometheusRule: addMonitoringLabels,
  ScaledObject: changeScaledObject,
  ServiceMonitor: addMonitoringLabels,
};

/** Returns the object with the values of the chart. */
export function changeObject(object: KubernetesObject, expression: Expressions): KubernetesObject {
  const changed = structuredClone(object);
  addMetadata(changed, expression);
  CHANGES[object.kind]?.(changed, expression);
  return inNamespace(changed, expression);
}

function addMetadata(object: KubernetesObject, { text, lines }: Expressions): void {
  const { name, labels = {}, ...others } = object.metadata;
  object.metadata = {
    name,
    // A class of priority belongs to no namespace.
    ...(object.kind === 'PriorityClass' ? {} : { namespace: text('.Release.Namespace') }),
    labels: { ...labels, [lines(['{{- include "billhook.labels" . | nindent LEVEL }}'])]: null },
    ...others,
  };
}

/** Replaces the namespace in queries, which is written out there. */
function inNamespace(object: KubernetesObject, { text }: Expressions): KubernetesObject {
  const named = `namespace="${NAMESPACE}"`;
  const ofRelease = `namespace="${text('.Release.Namespace')}"`;
  return JSON.parse(JSON.stringify(object), (_, value) =>
    typeof value === 'string' ? value.replaceAll(named, ofRelease) : value,
  );
}

function changeDeployment(object: KubernetesObject, expression: Expressions): void {
  const { name } = object.metadata;
  const values = `.Values.${name}`;
  const { yaml, lines, optional } = expression;
  const { spec } = object;
  const scaled = SCALED[name];
  const replicas = `replicas: {{ ${values}.replicas }}`;
  const { replicas: _, ...others } = spec;
  object.spec = {
    [lines(scaled ? [`{{- if not ${scaled} }}`, replicas, '{{- end }}'] : [replicas])]: null,
    ...others,
  };
  const { template } = spec;
  template.metadata.labels[PART_OF] = 'billhook';
  template.metadata.annotations = {
    [lines(['checksum/config: {{ toJson .Values.config | sha256sum }}'])]: null,
    [lines([`{{- with ${values}.podAnnotations }}`, '{{- toYaml . | nindent LEVEL }}', '{{- end }}'])]: null,
  };
  changePod(template.spec, name, expression);
  template.spec[optional('affinity', `(${values}.affinity | default .Values.affinity)`)] = null;
  if (name === 'renderer') {
    template.spec.securityContext.seccompProfile = yaml('include "billhook.rendererSeccomp" .');
  }
  const own = `include "billhook.priorityClass" (dict "root" . "name" "${name === 'renderer' ? 'billhook-renderer' : 'billhook'}")`;
  const className = `${values}.priorityClassName | default (ternary (${own}) "" .Values.priority.create)`;
  template.spec[lines([`{{- with (${className}) }}`, 'priorityClassName: {{ . }}', '{{- end }}'])] = null;
}

/** @param name of the service whose values count. */
function changePod(pod: KubernetesObject, name: string, expression: Expressions): void {
  const values = `.Values.${name}`;
  const { text, yaml, lines, optional } = expression;
  const [container] = pod.containers;
  container.image = text(
    `include "billhook.image" (dict "root" . "service" "${container.image.replace('billhook/', '')}")`,
  );
  container.resources = yaml(`toYaml ${values}.resources`);
  container[lines(['{{- with .Values.image.pullPolicy }}', 'imagePullPolicy: {{ . }}', '{{- end }}'])] = null;
  container.env.push(lines([`{{- with ${values}.extraEnv }}`, '{{- toYaml . | nindent LEVEL }}', '{{- end }}']));
  for (const one of container.env) {
    if (one.valueFrom?.secretKeyRef)
      one.valueFrom.secretKeyRef.name = secretName(one.valueFrom.secretKeyRef.name, text);
  }
  for (const volume of pod.volumes) {
    const { secret, projected } = volume;
    if (secret) secret.secretName = secretName(secret.secretName, text);
    for (const source of projected?.sources ?? []) source.secret.name = secretName(source.secret.name, text);
  }
  pod[optional('imagePullSecrets', '.Values.image.pullSecrets')] = null;
  pod[optional('nodeSelector', `(${values}.nodeSelector | default .Values.nodeSelector)`)] = null;
  pod[optional('tolerations', `(${values}.tolerations | default .Values.tolerations)`)] = null;
}

function secretName(name: string, text: Expressions['text']): string {
  const which = { billhook: 'main', 'billhook-redis': 'redis', 'billhook-mail': 'mail' }[name];
  if (!which) throw new Error(`no value for the Secret ${name}`);
  return text(`.Values.secrets.${which}`);
}

function changeCronJob(object: KubernetesObject, expression: Expressions): void {
  const { name } = object.metadata;
  const { spec } = object;
  const pod = spec.jobTemplate.spec.template.spec;
  for (const metadata of [spec.jobTemplate.metadata, spec.jobTemplate.spec.template.metadata]) {
    metadata.labels[PART_OF] = 'billhook';
  }
  changePod(pod, name, expression);
  if (name !== 'backup') return;
  const { text } = expression;
  spec.schedule = text('.Values.backup.schedule');
  spec.timeZone = text('.Values.backup.timeZone');
  const [container] = pod.containers;
  for (const one of container.env) if (one.name === 'KEEP_DAYS') one.value = text('.Values.backup.keepDays');
  pod.volumes[0].persistentVolumeClaim.claimName = text('.Values.backup.existingClaim | default "backups"');
}

function changeClaim({ spec }: KubernetesObject, { text, lines }: Expressions): void {
  spec.resources.requests.storage = text('.Values.backup.storage');
  spec[lines(['{{- with .Values.backup.storageClass }}', 'storageClassName: {{ . }}', '{{- end }}'])] = null;
}

function changeAutoscaler({ spec }: KubernetesObject, { number }: Expressions): void {
  const values = '.Values.gateway.autoscaling';
  spec.minReplicas = number(`${values}.minReplicas`);
  spec.maxReplicas = number(`${values}.maxReplicas`);
  spec.metrics[0].resource.target.averageUtilization = number(`${values}.cpuPercent`);
}

function changePolicy(object: KubernetesObject, { number, yaml, lines }: Expressions): void {
  const { name } = object.metadata;
  const { spec } = object;
  const peers = (value: string) => yaml(`toYaml .Values.networkPolicies.${value}`);
  for (const rule of spec.egress ?? []) {
    const store = rule.to[0].podSelector?.matchLabels?.[LABEL];
    if (store) {
      rule.to = peers(`${store}.to`);
      rule.ports = [{ protocol: 'TCP', port: number(`.Values.networkPolicies.${store}.port`) }];
    }
    if (name === 'traces-are-sent') rule.to = peers('monitoring');
    if (name === 'names-can-be-resolved') rule.to = peers('dns');
  }
  for (const rule of spec.ingress ?? []) {
    if (name === 'metrics-are-collected') rule.from = peers('monitoring');
    if (name === 'gateway' || name === 'portal') {
      rule[
        lines([
          '{{- with .Values.networkPolicies.callers }}',
          'from:',
          '  {{- toYaml . | nindent INNER }}',
          '{{- end }}',
        ])
      ] = null;
    }
  }
  const isOfService = spec.podSelector.matchLabels?.[LABEL] === name && spec.egress !== undefined;
  if (isOfService) {
    spec.egress.push(
      lines([`{{- with .Values.${name}.extraEgress }}`, '{{- toYaml . | nindent LEVEL }}', '{{- end }}']),
    );
  }
}

/** The way in of the API is called after the product, that of the clients' pages after its service. */
const wayIn = (name: string) => (name === 'billhook' ? 'api' : name);

function changeIngress(object: KubernetesObject, { text, yaml, lines }: Expressions): void {
  const values = `.Values.ingress.${wayIn(object.metadata.name)}`;
  const { spec } = object;
  object.metadata.annotations = yaml(`toYaml ${values}.annotations`);
  const [tls] = spec.tls;
  const [rule] = spec.rules;
  tls.hosts = [text(`${values}.host`)];
  tls.secretName = text(`${values}.tlsSecret`);
  rule.host = text(`${values}.host`);
  object.spec = {
    [lines(['{{- with .Values.ingress.className }}', 'ingressClassName: {{ . }}', '{{- end }}'])]: null,
    ...spec,
  };
}

function changeRoute({ metadata, spec }: KubernetesObject, { text, yaml }: Expressions): void {
  spec.parentRefs = yaml('toYaml .Values.gatewayApi.parentRefs');
  spec.hostnames = [text(`.Values.gatewayApi.${wayIn(metadata.name)}.host`)];
}

function changeScaledObject({ metadata, spec }: KubernetesObject, { text, number }: Expressions): void {
  const values = `.Values.keda.${metadata.name}`;
  spec.minReplicaCount = number(`${values}.minReplicas`);
  spec.maxReplicaCount = number(`${values}.maxReplicas`);
  for (const { metadata: trigger } of spec.triggers) {
    trigger.serverAddress = text('.Values.keda.prometheus');
    trigger.threshold = text(`${values}.threshold`);
  }
}

function addMonitoringLabels({ metadata }: KubernetesObject, { lines }: Expressions): void {
  metadata.labels[lines(['{{- with .Values.monitoring.labels }}', '{{- toYaml . | nindent LEVEL }}', '{{- end }}'])] =
    null;
}

function changePriorityClass({ metadata }: KubernetesObject, { text }: Expressions): void {
  metadata.name = text(`include "billhook.priorityClass" (dict "root" . "name" "${metadata.name}")`);
}
