// The resources that the overlays request, summed up from the manifests: docs/scale.md has them, and the trial fits a small cluster.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { manifest, workloads } from './manifests.ts';

interface Sum {
  /** Thousandths of a processor. */
  cpu: number;
  /** Mebibytes. */
  memory: number;
}

interface Patch {
  metadata: { name: string };
  spec: { replicas: number; template: { spec: { containers: { resources: { requests: Requests } }[] } } };
}
type Requests = Record<'cpu' | 'memory', string>;

const patches: Patch[] = parseAllDocuments(readFileSync('deploy/kubernetes/overlays/trial/size.yaml', 'utf8')).map(
  (document) => document.toJS(),
);
const SERVICES = ['gateway', 'mail', 'operations', 'portal', 'renderer', 'scheduler', 'webhooks'];
const STORES = ['mongodb', 'redis'];
/** Processor time that a cluster of one node takes for itself: kind 1.35 asks for 950m, minikube for 850m. */
const SYSTEM_CPU = 950;

function sumOf({ cpu, memory }: Requests, times = 1): Sum {
  const millicores = cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1_000;
  const mebibytes = memory.endsWith('Gi') ? Number(memory.slice(0, -2)) * 1_024 : Number(memory.replace('Mi', ''));
  return { cpu: millicores * times, memory: mebibytes * times };
}
const add = (...sums: Sum[]): Sum =>
  sums.reduce((all, one) => ({ cpu: all.cpu + one.cpu, memory: all.memory + one.memory }));

function workload(name: string) {
  const found = workloads.filter((one) => one.name === name && one.kind !== 'Job');
  expect(found).toHaveLength(1);
  const [{ body, container, kind }] = found as [(typeof found)[number]];
  // The gateway's number is its autoscaler's.
  const scaled = name === 'gateway' ? manifest('HorizontalPodAutoscaler', name).spec.minReplicas : 1;
  return {
    kind,
    requests: container.resources.requests as Requests,
    replicas: (body.spec.replicas ?? scaled) as number,
  };
}

const surgeOf = (name: string): number => manifest('Deployment', name).spec.strategy.rollingUpdate.maxSurge;

/** "kubectl apply -k" replaces all services at once, most of them with one pod more than they have. */
function capacity(names: string[], of: (name: string) => { requests: Requests; replicas: number }) {
  const running = add(...names.map((name) => sumOf(of(name).requests, of(name).replicas)));
  const surge = add(...SERVICES.map((name) => sumOf(of(name).requests, surgeOf(name))));
  // An operator's pod, and the job that makes indexes.
  const jobs = add(...['admin', 'migrate'].map((name) => sumOf(workload(name).requests)));
  return { running, rollout: add(running, surge, jobs) };
}

const trial = capacity([...SERVICES, ...STORES], (name) => {
  const patch = patches.find(({ metadata }) => metadata.name === name);
  if (!patch) return workload(name);
  const [container] = patch.spec.template.spec.containers;
  return { requests: container?.resources.requests as Requests, replicas: patch.spec.replicas };
});
const production = capacity(SERVICES, workload);

describe.each([
  ['trial', trial],
  ['production', production],
])('the overlay %s', (name, { running, rollout }) => {
  test('when the guide states its requests, then they are the sum of its manifests', () => {
    const cell = ({ cpu, memory }: Sum) => `${cpu.toLocaleString('en')}m, ${memory.toLocaleString('en')} MiB`;

    expect(readFileSync('docs/scale.md', 'utf8')).toContain(`| \`${name}\` | ${cell(running)} | ${cell(rollout)} |`);
  });
});

test('when the trial runs on two processors, then a rollout has room beside what the cluster itself runs', () => {
  expect(trial.rollout.cpu + SYSTEM_CPU).toBeLessThanOrEqual(2_000);
  expect(trial.rollout.memory).toBeLessThanOrEqual(4_096);
  expect(new Set(patches.map(({ metadata }) => metadata.name))).toEqual(new Set(SERVICES));
});
