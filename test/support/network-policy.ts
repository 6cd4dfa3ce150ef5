// Judges a connection by network policies, as Kubernetes documents them, independent of the engine that enforces them.
import { BlockList, isIPv6 } from 'node:net';

interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}
interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}
interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports?: { protocol?: string; port?: number | string }[];
}
export interface NetworkPolicy {
  metadata: { name: string; namespace?: string };
  spec: { podSelector: Selector; policyTypes?: string[]; ingress?: Rule[]; egress?: Rule[] };
}

/** A pod, or without a namespace an address outside the cluster. */
export interface End {
  ip: string;
  namespace?: string;
  labels?: Record<string, string>;
  /** The container's ports by name. */
  ports?: Record<string, number>;
}

/** Tells whether the policies of both ends allow a TCP connection to a port of a pod or an address. */
export function isAllowed(policies: readonly NetworkPolicy[], from: End, to: End, port: number): boolean {
  const isOpen = (direction: 'Egress' | 'Ingress', own: End, other: End) => {
    const selecting = policies.filter((policy) => selects(policy, own) && typesOf(policy).includes(direction));
    const rules = selecting.flatMap((policy) => {
      const own = direction === 'Egress' ? policy.spec.egress : policy.spec.ingress;
      return (own ?? []).map((rule) => ({ rule, policy }));
    });
    return (
      selecting.length === 0 ||
      rules.some(({ rule, policy }) => hasPort(rule, to, port) && hasPeer(rule, other, policy.metadata.namespace))
    );
  };
  return isOpen('Egress', from, to) && isOpen('Ingress', to, from);
}

function selects({ metadata, spec }: NetworkPolicy, { namespace, labels = {} }: End): boolean {
  return metadata.namespace === namespace && matches(spec.podSelector, labels);
}

function typesOf({ spec }: NetworkPolicy): string[] {
  return spec.policyTypes ?? ['Ingress', ...(spec.egress ? ['Egress'] : [])];
}

function hasPort({ ports }: Rule, to: End, port: number): boolean {
  if (!ports) return true;
  const tcp = ports.filter(({ protocol = 'TCP' }) => protocol === 'TCP');
  return tcp.some(({ port: named = port }) => (typeof named === 'string' ? to.ports?.[named] : named) === port);
}

function hasPeer({ from, to }: Rule, end: End, namespace: string | undefined): boolean {
  const peers = from ?? to;
  if (!peers) return true;
  return peers.some(({ ipBlock, podSelector, namespaceSelector }) => {
    if (ipBlock) return isWithin(ipBlock.cidr, end.ip) && !ipBlock.except?.some((cidr) => isWithin(cidr, end.ip));
    if (end.namespace === undefined) return false;
    const isInNamespace = namespaceSelector
      ? matches(namespaceSelector, { 'kubernetes.io/metadata.name': end.namespace })
      : end.namespace === namespace;
    return isInNamespace && matches(podSelector ?? {}, end.labels ?? {});
  });
}

function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Record<string, string>): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator !== 'In') throw new Error(`the operator ${operator} is not known here`);
      return values.includes(labels[key] ?? '');
    })
  );
}

function isWithin(cidr: string, address: string): boolean {
  const [network = '', prefix] = cidr.split('/');
  if (isIPv6(network) !== isIPv6(address)) return false;
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), family);
  return list.check(address, family);
}
