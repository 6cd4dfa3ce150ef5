// The network policies: everything denied by default, and each service reaches what it needs and nothing else.
import { BlockList } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { type End, isAllowed, type NetworkPolicy } from '../../support/network-policy.ts';
import { manifest, manifests, workloads } from './manifests.ts';

interface Peer {
  ipBlock?: { cidr: string; except?: string[] };
  podSelector?: { matchLabels?: Record<string, string> };
}
interface Rule {
  to: Peer[];
  ports: { protocol: string; port: number | string }[];
}

const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');

/** Returns the targets that a service may reach, as "name:port" or "public:port". DNS is left out. */
function reachOf(name: string): string[] {
  const rules: Rule[] = manifest('NetworkPolicy', name).spec.egress;
  return rules.flatMap(({ to, ports }) =>
    ports.flatMap(({ port }) => [
      ...new Set(to.map((peer) => `${peer.podSelector?.matchLabels?.['app.kubernetes.io/name'] ?? 'public'}:${port}`)),
    ]),
  );
}

/** Tells whether a rule to the public internet lets an address through. */
function publicRuleOf(name: string): (address: string) => boolean {
  const rules: Rule[] = manifest('NetworkPolicy', name).spec.egress;
  const blocks = rules.flatMap(({ to }) => to.flatMap(({ ipBlock }) => (ipBlock ? [ipBlock] : [])));
  const within = (cidr: string, address: string) => {
    const [network = '', prefix] = cidr.split('/');
    const family = network.includes(':') ? 'ipv6' : 'ipv4';
    const list = new BlockList();
    list.addSubnet(network, Number(prefix), family);
    return (address.includes(':') ? 'ipv6' : 'ipv4') === family && list.check(address, family);
  };
  return (address) =>
    blocks.some(({ cidr, except = [] }) => within(cidr, address) && !except.some((one) => within(one, address)));
}

test('when a pod has no policy of its own, then it reaches nothing and nothing reaches it', () => {
  expect(manifest('NetworkPolicy', 'nothing-by-default').spec).toEqual({
    podSelector: {},
    policyTypes: ['Ingress', 'Egress'],
  });
});

test('when a pod is selected by a policy of its own, then that policy has its name', () => {
  const selected = policies.flatMap(({ body, name }) => {
    const label = body.spec.podSelector.matchLabels?.['app.kubernetes.io/name'];
    return label === undefined ? [] : [[name, label]];
  });
  expect(selected.filter(([name, label]) => name !== label)).toEqual([]);
  expect(selected.map(([name]) => name)).toEqual(
    expect.arrayContaining([
      'gateway',
      'mail',
      'operations',
      'portal',
      'renderer',
      'scheduler',
      'webhooks',
      'migrate',
      'admin',
    ]),
  );
});

test.each([
  ['gateway', ['redis:6379', 'mongodb:27017']],
  ['operations', ['redis:6379', 'mongodb:27017']],
  ['renderer', ['redis:6379', 'public:80', 'public:443']],
  ['portal', ['redis:6379', 'mongodb:27017', 'public:443']],
  ['mail', ['redis:6379', 'mongodb:27017', 'public:25', 'public:465', 'public:587']],
  ['scheduler', ['redis:6379', 'mongodb:27017']],
  ['webhooks', ['redis:6379', 'mongodb:27017', 'public:80', 'public:443']],
  ['migrate', ['mongodb:27017']],
  ['backup', ['mongodb:27017']],
  ['admin', ['redis:6379', 'mongodb:27017']],
])('when the %s opens a connection, then it reaches only what it needs', (name, reach) => {
  expect(reachOf(name)).toEqual(reach);
});

describe.each(['mail', 'portal', 'renderer', 'webhooks'])('the egress of the %s', (name) => {
  const lets = publicRuleOf(name);

  test('when an address is private, shared, local or special, then it is denied', () => {
    const denied =
      '0.0.0.0 10.0.0.5 10.255.255.255 100.64.0.1 100.127.255.254 127.0.0.1 168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.254 192.0.0.192 192.168.0.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 ' +
      ':: ::1 ::ffff:127.0.0.1 64:ff9b::a9fe:a9fe fc00::1 fd00:ec2::254 fe80::1 ff02::1 2001:0:4136::1 2002:a9fe:a9fe::1';
    expect(denied.split(' ').filter(lets)).toEqual([]);
  });

  test('when an address is public, then it is reached', () => {
    const reached =
      '1.1.1.1 11.0.0.1 100.63.255.254 100.128.0.1 172.32.0.1 192.167.255.255 2606:4700::1111 2a00:1450::1';
    expect(reached.split(' ').filter((address) => !lets(address))).toEqual([]);
  });
});

test('when a pod connects to another, then both their policies allow these connections and no other', () => {
  const namespace = 'billhook';
  const applied: NetworkPolicy[] = policies.map(({ body }) => ({
    ...body,
    metadata: { ...body.metadata, namespace },
  }));
  const pods = workloads.map(({ body, name, container }, index) => {
    const { labels } = (body.spec.jobTemplate?.spec ?? body.spec).template.metadata;
    const ports = (container.ports ?? []).map((port: { name: string; containerPort: number }) => [
      port.name,
      port.containerPort,
    ]);
    return { name, end: { ip: `10.244.0.${index + 2}`, namespace, labels, ports: Object.fromEntries(ports) } };
  });
  const strange = ['billhook', 'monitoring', 'other'].map((one) => ({
    name: `a pod in ${one}`,
    end: { ip: '10.244.0.200', namespace: one, labels: {}, ports: {} } as End,
  }));
  const reach = [...pods, ...strange].map(({ name, end: source }) => {
    const targets = pods.flatMap(({ name: target, end }) =>
      Object.values<number>(end.ports).flatMap((port) =>
        target !== name && isAllowed(applied, source, end, port) ? [`${target}:${port}`] : [],
      ),
    );
    return [name, targets.sort()];
  });

  const stores = ['mongodb:27017', 'redis:6379'];
  const ofPublic = ['gateway:8080', 'portal:8070'];
  const health = 'gateway mail operations portal renderer scheduler webhooks'.split(' ').map((name) => `${name}:9090`);
  expect(Object.fromEntries(reach)).toEqual({
    gateway: stores,
    portal: stores,
    operations: stores,
    scheduler: stores,
    webhooks: stores,
    mail: stores,
    admin: stores,
    renderer: ['redis:6379'],
    migrate: ['mongodb:27017'],
    backup: ['mongodb:27017'],
    mongodb: [],
    redis: [],
    'a pod in billhook': [],
    'a pod in monitoring': [...ofPublic, ...health].sort(),
    'a pod in other': ofPublic,
  });
});

test('when a policy applies to several services, then it allows nothing but DNS, metrics and traces', () => {
  const several = policies.filter(({ body }) => !body.spec.podSelector.matchLabels);
  const opened = several.flatMap(({ body }) => [...(body.spec.egress ?? []), ...(body.spec.ingress ?? [])]);
  expect(opened.map(({ ports }: Rule) => ports.map(({ port }) => port))).toEqual([[53, 53], ['health'], [4318]]);
});

test('when a request comes from the public, then it reaches only the API and the portal, never the health port', () => {
  const open = policies.filter(({ body }) =>
    body.spec.ingress?.some(({ from }: { from?: unknown }) => from === undefined),
  );
  expect(open.map(({ name }) => name).sort()).toEqual(['gateway', 'portal']);
  expect(manifest('NetworkPolicy', 'portal').spec.ingress).toEqual([{ ports: [{ protocol: 'TCP', port: 'http' }] }]);
  expect(manifest('NetworkPolicy', 'gateway').spec.ingress).toEqual([{ ports: [{ protocol: 'TCP', port: 'http' }] }]);
  const [{ from, ports }] = manifest('NetworkPolicy', 'metrics-are-collected').spec.ingress;
  expect(ports).toEqual([{ protocol: 'TCP', port: 'health' }]);
  expect(from).toEqual([{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }]);
});

test('when a pod of the cluster calls the dashboard, then no policy lets it in', () => {
  expect(manifest('NetworkPolicy', 'operations').spec.ingress).toBeUndefined();
  const opened = policies.flatMap(({ body }) => body.spec.ingress ?? []).flatMap(({ ports }: Rule) => ports);
  expect(opened.map(({ port }) => port)).not.toContain('dashboard');
});
