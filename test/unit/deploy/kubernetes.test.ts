// The manifests: valid against the schemas of their kinds, and true to the promises the guides make about them.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { parseAllDocuments } from 'yaml';
import { catalog } from '#libs/jobs/catalog.ts';
import { drawRedisUsers } from '../../../deploy/redis/passwords.ts';
import { ACL_KEY, SECRET_NAME, secretOf } from '../../../deploy/redis/secret.ts';
import { REDIS_USERS } from '../../../deploy/redis/users.ts';
import { namesOf, variablesOf } from './configuration.ts';
import {
  CUSTOM_KINDS,
  kustomizations,
  type Manifest,
  manifest,
  manifestFiles,
  manifests,
  patchFiles,
  workloads,
} from './manifests.ts';

const packageJson = JSON.parse(readFileSync('package.json', 'utf8'));
const services = ['gateway', 'mail', 'operations', 'portal', 'renderer', 'scheduler', 'webhooks'];
/** Their work can wait for the seconds of a restart. */
const patient = ['mail', 'operations', 'scheduler'];
const ours = workloads.filter(({ container }) => container.image.startsWith('billhook/'));

describe('schemas', () => {
  const schema = JSON.parse(readFileSync('test/unit/deploy/kubernetes-1.37.schema.json', 'utf8'));
  const ajv = new Ajv({ strict: false, allErrors: true }).addSchema({ $id: 'kubernetes', $defs: schema.$defs });
  // Kubernetes says "int32" and "int-or-string" where JSON Schema has no such format; the types beside them are checked.
  (addFormats as unknown as (instance: Ajv) => void)(ajv);
  const custom = new Set<string>(CUSTOM_KINDS);
  const builtIn = manifests.filter((one) => !custom.has(`${one.apiVersion} ${one.kind}`));

  function problemsOf(kind: string, body: unknown): unknown {
    const pointer = schema.kinds[kind];
    if (!pointer) throw new Error(`no schema for ${kind}`);
    const validate = ajv.getSchema(`kubernetes${pointer}`) as ValidateFunction;
    return validate(body) ? undefined : validate.errors;
  }

  test.each(builtIn.map((one) => [`${one.file} ${one.kind}/${one.name}`, one] as const))('%s is valid', (_, one) => {
    expect(problemsOf(`${one.apiVersion} ${one.kind}`, one.body)).toBeUndefined();
  });

  test('when a field is misspelt or of another type, then the schema rejects it', () => {
    const misspelt = structuredClone(manifest('Deployment', 'gateway'));
    misspelt.spec.template.spec.containers[0].livenessprobe = {};
    expect(problemsOf('apps/v1 Deployment', misspelt)).toMatchObject([{ keyword: 'additionalProperties' }]);

    const wrong = structuredClone(manifest('Deployment', 'gateway'));
    wrong.spec.replicas = 'two';
    expect(problemsOf('apps/v1 Deployment', wrong)).toMatchObject([{ instancePath: '/spec/replicas' }]);
  });
});

describe('kustomizations', () => {
  test('when one names a file or folder, then it exists', () => {
    const named = kustomizations.flatMap(({ file, resources = [], components = [] }) =>
      [...resources, ...components].map((path) => join(dirname(file), path)),
    );
    expect([...named, ...patchFiles].filter((path) => !existsSync(path))).toEqual([]);
    expect(manifestFiles.filter((file) => !named.includes(file))).toEqual([]);
  });

  test('when one patches a resource, then that exists', () => {
    const inFiles = patchFiles
      .flatMap((file) => parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS()))
      .flatMap((patch) => (patch.kind ? [{ kind: patch.kind, name: patch.metadata.name }] : []));
    const targets = kustomizations.flatMap(({ patches = [] }) => patches).flatMap(({ target }) => target ?? []);
    expect(targets.length + inFiles.length).toBeGreaterThan(0);
    for (const target of [...targets, ...inFiles]) {
      const name = new RegExp(`^${target.name}$`);
      expect(manifests.filter((one) => one.kind === target.kind && name.test(one.name))).not.toEqual([]);
    }
  });

  test('when an image of ours is named, then it carries the version of this package', () => {
    const images = kustomizations.flatMap(({ images: named = [] }) => named);
    expect(images.filter(({ newTag }) => newTag !== packageJson.version)).toEqual([]);
    expect(new Set(images.map(({ name }) => name))).toEqual(new Set(ours.map(({ container }) => container.image)));
  });
});

describe('every container', () => {
  test.each(workloads.map((one) => [`${one.kind}/${one.name}`, one] as const))('%s has no privilege', (_, one) => {
    expect(one.pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    // A service account of its own, without a token: a pod has no rights in the cluster.
    expect(manifest('ServiceAccount', one.pod.serviceAccountName).automountServiceAccountToken).toBe(false);
    expect(one.pod.securityContext.runAsUser).toBeGreaterThan(0);
    expect(one.pod.containers).toHaveLength(1);
    expect(one.container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(one.container.resources).toEqual({
      requests: { cpu: expect.anything(), memory: expect.anything() },
      limits: { cpu: expect.anything(), memory: expect.anything() },
    });
    for (const { hostPath } of one.pod.volumes ?? []) expect(hostPath).toBeUndefined();
    expect([one.pod.hostNetwork, one.pod.hostPID, one.pod.hostIPC]).toEqual([undefined, undefined, undefined]);
  });
});

test('when every pod of a busy node starts at once, then a slow start is no reason to end a process', () => {
  const probed = workloads.filter(({ container }) => container.livenessProbe);
  const patience = probed.map(({ name, container: { startupProbe = {} } }) => [
    name,
    (startupProbe.periodSeconds ?? 0) * (startupProbe.failureThreshold ?? 0),
  ]);

  expect(patience).toHaveLength(services.length + 2);
  expect(patience.filter(([, seconds]) => Number(seconds) < 300)).toEqual([]);
});

describe('the templates of jobs', () => {
  const templates = manifests.filter(({ kind }) => kind === 'CronJob');

  test('when manifests are applied, then there is no job among them: an existing job could not be changed', () => {
    expect(manifests.filter(({ kind }) => kind === 'Job')).toEqual([]);
  });

  test('when time passes, then none of them runs by itself but the backup, where its component is chosen', () => {
    const [running, suspended] = [false, true].map((isSuspended) =>
      templates.filter(({ body }) => (body.spec.suspend ?? false) === isSuspended),
    );
    expect(suspended?.map(({ name }) => name).sort()).toEqual(['admin', 'migrate']);
    expect(running?.map(({ file, name }) => [file, name])).toEqual([
      ['deploy/kubernetes/components/backup/backup.yaml', 'backup'],
    ]);
  });

  test('when manifests are applied, then no pod for an operator is started', () => {
    const withPods = ['DaemonSet', 'Deployment', 'Job', 'Pod', 'ReplicaSet', 'StatefulSet'];
    expect(manifests.filter(({ kind, name }) => name === 'admin' && withPods.includes(kind))).toEqual([]);
    const { spec } = manifest('CronJob', 'admin').spec.jobTemplate;
    expect(spec.activeDeadlineSeconds).toBeGreaterThan(3_600);
    expect(spec.template.spec.restartPolicy).toBe('Never');
  });
});

describe.each(services)('the deployment of the %s', (name) => {
  const { spec } = manifest('Deployment', name);
  const pod = spec.template.spec;
  const [container] = pod.containers;

  test('when the kubelet probes a pod, then it probes the health port', () => {
    const asked = (path: string) => ({ httpGet: { path, port: 'health' } });
    expect(container.startupProbe).toMatchObject(asked('/livez'));
    expect(container.livenessProbe).toMatchObject(asked('/livez'));
    expect(container.readinessProbe).toMatchObject(asked('/readyz'));
    expect(container.ports).toContainEqual({ name: 'health', containerPort: 9090 });
    expect(variable('HEALTH_PORT')).toBe('9090');
  });

  test('when a variable is set, then the service reads it', () => {
    const read = namesOf(name);
    const set = container.env.map((one: { name: string }) => one.name);
    expect(set.filter((one: string) => !read.includes(one))).toEqual([]);
    // A shared variable may be read by one service alone. Its manifest must not set it, because that would override it.
    const shared = [...readFileSync('deploy/kubernetes/base/config.env', 'utf8').matchAll(/^(\w+)=/gm)].map(
      ([, one = '']) => one,
    );
    const readByAny = services.flatMap(namesOf);
    expect(shared.length).toBeGreaterThan(3);
    expect(shared.filter((one) => !readByAny.includes(one))).toEqual([]);
    expect(set.filter((one: string) => shared.includes(one))).toEqual([]);
  });

  test('when a variable is required, then it is set from the secret', () => {
    const fromImage = [...readFileSync('deploy/docker/Dockerfile', 'utf8').matchAll(/^ENV (\w+)=/gm)].map(
      ([, one]) => one,
    );
    const required = variablesOf(name).filter(({ name: one, isRequired }) => isRequired && !fromImage.includes(one));
    expect(required).not.toEqual([]);
    const mounted = mountedSecrets(pod).map(({ path }) => `/run/billhook/${path}`);
    expect(new Set(required.map((one) => variable(`${one.name}_FILE`)))).toEqual(new Set(mounted));
  });

  test('when a node is drained or a version rolled out, then only services whose work can wait are unavailable', () => {
    expect(spec.strategy.rollingUpdate.maxUnavailable).toBe(patient.includes(name) ? 1 : 0);
    expect(manifest('PodDisruptionBudget', name).spec).toMatchObject({
      maxUnavailable: 1,
      selector: spec.selector,
    });
    expect(pod.topologySpreadConstraints.map((one: { topologyKey: string }) => one.topologyKey)).toEqual([
      'topology.kubernetes.io/zone',
      'kubernetes.io/hostname',
    ]);
    // libs/service/lifecycle.ts closes within 40 s; what comes before it counts as well.
    const preStop = container.lifecycle?.preStop.sleep.seconds ?? 0;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(40 + preStop);
  });

  test('when Prometheus collects, then it finds the port', () => {
    const service = manifest('Service', `${name}-health`);
    expect(service.spec.selector).toEqual(spec.selector.matchLabels);
    expect(service.spec.ports).toMatchObject([{ name: 'health', targetPort: 'health' }]);
    const monitor = manifest('ServiceMonitor', name);
    expect(service.metadata.labels).toMatchObject(monitor.spec.selector.matchLabels);
    // Dashboards and alerts know the service by this name.
    expect(service.metadata.labels[monitor.spec.jobLabel]).toBe(name);
  });

  function variable(key: string): string | undefined {
    return container.env.find((one: { name: string }) => one.name === key)?.value;
  }
});

test.each(REDIS_USERS)(
  'when %s connects to Redis, then it is a user of its own, whose address no other pod mounts',
  (user) => {
    const ofRedis = workloads.flatMap(({ name, pod }) =>
      mountedSecrets(pod).flatMap((one) =>
        one.secret === SECRET_NAME && one.key === user ? [`${name} ${one.path}`] : [],
      ),
    );

    expect(ofRedis).toEqual([`${user} redis-url`]);
  },
);

test('when the Redis of the trial starts, then it has the users that the program makes', () => {
  const pod = manifest('StatefulSet', 'redis').spec.template.spec;
  const { secret } = pod.volumes.find(({ name }: { name: string }) => name === 'users');
  const { stringData } = JSON.parse(secretOf(drawRedisUsers('billhook'), 'redis://redis:6379'));

  expect(pod.containers[0].args.join(' ')).toContain(`--aclfile /run/billhook/${ACL_KEY} `);
  expect(secret).toMatchObject({ secretName: SECRET_NAME, items: [{ key: ACL_KEY, path: ACL_KEY }] });
  expect(Object.keys(stringData)).toEqual([...REDIS_USERS, ACL_KEY]);
  expect(stringData.renderer).toMatch(/^redis:\/\/renderer:[\w-]{32}@redis:6379$/);
});

/** Returns the keys that the volume `secrets` of a pod takes, with their Secrets. */
function mountedSecrets(pod: Manifest['body']): { secret: string; key: string; path: string }[] {
  const volume = pod.volumes?.find(({ name }: { name: string }) => name === 'secrets');
  const sources =
    volume?.projected?.sources ?? (volume ? [{ secret: { name: volume.secret.secretName, ...volume.secret } }] : []);
  return sources.flatMap(({ secret }: { secret: { name: string; items: { key: string; path: string }[] } }) =>
    secret.items.map((item) => ({ secret: secret.name, ...item })),
  );
}

test('when a store is back, then its pod and the services that wait for it are probed within a second', () => {
  const names = services.map((name) => ['Deployment', name] as const);
  const stores = ['mongodb', 'redis'].map((name) => ['StatefulSet', name] as const);
  const periods = [...names, ...stores].map(([kind, name]) => {
    const [{ readinessProbe }] = manifest(kind, name).spec.template.spec.containers;
    return [name, readinessProbe.periodSeconds];
  });

  expect(periods.filter(([, period]) => period !== 1)).toEqual([]);
});

describe('the gateway', () => {
  test('when a pod terminates, then it still responds until load balancers have noticed', () => {
    const [container] = manifest('Deployment', 'gateway').spec.template.spec.containers;
    expect(container.lifecycle.preStop.sleep.seconds).toBeGreaterThanOrEqual(5);
    expect(manifest('Service', 'gateway').spec.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
    expect(container.ports).toContainEqual({ name: 'http', containerPort: 8080 });
  });

  test('when MongoDB elects a primary, then no gateway leaves the service meanwhile', () => {
    const [{ readinessProbe }] = manifest('Deployment', 'gateway').spec.template.spec.containers;
    expect(readinessProbe.periodSeconds * readinessProbe.failureThreshold).toBeGreaterThanOrEqual(30);
    // A gateway that starts is ready after its first successful probe.
    expect(readinessProbe.successThreshold ?? 1).toBe(1);
  });

  test('when an autoscaler owns the number of pods, then the deployment names none', () => {
    expect(manifest('Deployment', 'gateway').spec.replicas).toBeUndefined();
    expect(manifest('HorizontalPodAutoscaler', 'gateway').spec.minReplicas).toBeGreaterThanOrEqual(2);
  });
});

describe('the ingress', () => {
  const { metadata, spec } = manifest('Ingress', 'billhook');
  const route = manifest('HTTPRoute', 'billhook').spec;

  test('when a body is the largest allowed, then it reaches the gateway', () => {
    const size = Number.parseInt(metadata.annotations['nginx.ingress.kubernetes.io/proxy-body-size'], 10);
    expect(size * 2 ** 20).toBeGreaterThan(3 * 2 ** 20);
  });

  test('when a document takes as long as it may, then no timeout on its path is shorter', () => {
    const seconds = Number(metadata.annotations['nginx.ingress.kubernetes.io/proxy-read-timeout']);
    expect(seconds).toBeGreaterThan(30);
    expect(Number.parseInt(route.rules[0].timeouts.request, 10)).toBeGreaterThan(30);
  });

  test('when a request comes in, then it uses TLS and reaches the public port of the gateway alone', () => {
    const [{ host, http }] = spec.rules;
    expect(spec.tls).toEqual([{ hosts: [host], secretName: expect.any(String) }]);
    expect(http.paths.map(({ backend }: { backend: object }) => backend)).toEqual([
      { service: { name: 'gateway', port: { name: 'http' } } },
    ]);
    expect(route.rules[0].backendRefs).toEqual([{ name: 'gateway', port: 80 }]);
  });
});

describe('the portal', () => {
  test('when a pod terminates, then it still responds until load balancers have noticed', () => {
    const [container] = manifest('Deployment', 'portal').spec.template.spec.containers;
    expect(container.lifecycle.preStop.sleep.seconds).toBeGreaterThanOrEqual(5);
    expect(manifest('Service', 'portal').spec.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
    expect(container.ports).toContainEqual({ name: 'http', containerPort: 8070 });
  });

  test('when a request comes in, then it uses TLS, under another name than the API', () => {
    const { spec } = manifest('Ingress', 'portal');
    const [{ host, http }] = spec.rules;
    expect(spec.tls).toEqual([{ hosts: [host], secretName: expect.any(String) }]);
    expect(host).not.toBe(manifest('Ingress', 'billhook').spec.rules[0].host);
    expect(http.paths.map(({ backend }: { backend: object }) => backend)).toEqual([
      { service: { name: 'portal', port: { name: 'http' } } },
    ]);
    const route = manifest('HTTPRoute', 'portal').spec;
    expect(route.hostnames).toEqual([host]);
    expect(route.rules[0].backendRefs).toEqual([{ name: 'portal', port: 80 }]);
  });
});

test('when a pod is not one of the mail service, then it has no login of the SMTP server', () => {
  const having = workloads.filter(({ container }) => JSON.stringify(container).includes('SMTP_URL'));
  expect(having.map(({ name }) => name)).toEqual(['mail']);
  // Without the Secret no mail is sent, and everything else works.
  const { env } = manifest('Deployment', 'mail').spec.template.spec.containers[0];
  expect(env).toContainEqual({
    name: 'SMTP_URL',
    valueFrom: { secretKeyRef: { name: 'billhook-mail', key: 'smtp-url', optional: true } },
  });
});

describe('priorities', () => {
  test('when a cluster is full, then a renderer yields to a gateway', () => {
    expect(manifest('PriorityClass', 'billhook').value).toBeGreaterThan(
      manifest('PriorityClass', 'billhook-renderer').value,
    );
    const patched = kustomizations.find(({ file }) => file.includes('/priority/'))?.patches ?? [];
    expect(patched.map(({ target, patch }) => [target?.name, /value: ([\w-]+)/.exec(patch ?? '')?.[1]])).toEqual([
      ['(gateway|mail|operations|portal|scheduler|webhooks)', 'billhook'],
      ['renderer', 'billhook-renderer'],
    ]);
  });
});

describe('autoscaling by work', () => {
  const triggerOf = (name: string) => manifest('ScaledObject', name).spec.triggers[0].metadata;

  test('when documents wait, then there is one renderer for as many as it prints at once', () => {
    const concurrency = variablesOf('renderer').find(({ name }) => name === 'RENDER_CONCURRENCY')?.default;
    expect(triggerOf('renderer').threshold).toBe(String(concurrency));
  });

  test('when a queue or a metric is named, then it exists', () => {
    const queries = ['renderer', 'webhooks'].map((name) => triggerOf(name).query).join('\n');
    const queues = [...queries.matchAll(/queue=~?"([^"]+)"/g)].flatMap(([, names = '']) => names.split('|'));
    // The SMTP server, and not the number of mail services, bounds how fast mail goes out. Visitors of pages start no
    // renderers.
    expect(new Set(queues)).toEqual(
      new Set(catalog.map(({ name }) => name).filter((name) => !/^(?:send-.*mail|load-logo)$/.test(name))),
    );
    const metrics = readFileSync('libs/service/metrics.ts', 'utf8');
    const named = [...queries.matchAll(/\b(billhook_\w+)/g)].map(([, name]) => name);
    expect(named.filter((name) => !metrics.includes(`'${name}'`))).toEqual([]);
  });

  test.each(['renderer', 'webhooks'])('when the lengths of the queues are unknown, then no %s is removed', (name) => {
    const { fallback, minReplicaCount } = manifest('ScaledObject', name).spec;
    expect(fallback.behavior).toBe('currentReplicasIfHigher');
    expect(fallback.replicas).toBeGreaterThanOrEqual(minReplicaCount);
    // Redis is unavailable: the gauges are absent, which is not the same as nothing to do.
    expect(triggerOf(name).ignoreNullValues).toBe('false');
  });

  test('when KEDA scales a deployment, then the deployment names no number of its own', () => {
    const keda = kustomizations.find(({ file }) => file.includes('/keda/'));
    expect(keda?.patches).toEqual([
      {
        target: { kind: 'Deployment', name: '(renderer|webhooks)' },
        patch: expect.stringContaining('path: /spec/replicas'),
      },
    ]);
  });
});
