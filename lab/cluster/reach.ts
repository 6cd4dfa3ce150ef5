// Tries every connection between the pods of a running installation, pods of other namespaces and addresses outside the cluster, and ends with 1
// if one goes another way than its network policies say.
//   node lab/cluster/reach.ts FOLDER [--namespace billhook]
import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { type End, isAllowed, type NetworkPolicy } from '../../test/support/network-policy.ts';

interface Container {
  name: string;
  image: string;
  ports?: { name: string; containerPort: number; protocol?: string }[];
}
interface Pod {
  metadata: { name: string; namespace: string; labels?: Record<string, string> };
  spec: { containers: Container[] };
  status: { podIP: string; containerStatuses: { containerID: string }[] };
}
interface Service {
  metadata: { name: string };
  spec: {
    clusterIP: string;
    selector?: Record<string, string>;
    ports: { port: number; targetPort: number | string }[];
  };
}
interface CronJob {
  // biome-ignore lint/suspicious/noExplicitAny: a template of pods is passed on as it is.
  spec: { jobTemplate: { spec: { template: any } } };
}
interface Source extends End {
  name: string;
  /** A process in the pod's network namespace. */
  pid: string;
}
interface Target {
  name: string;
  address: string;
  port: number;
  /** Where the policies are judged: behind a Service is a pod. */
  end: End;
  endPort: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { namespace: { type: 'string', default: 'billhook' } },
});
const [folder = ''] = positionals;
const { namespace } = values;
const NAME = 'app.kubernetes.io/name';
const OTHER_NAMESPACES = ['monitoring', 'other'];
/** A collector of traces listens on the first, and a program that nothing of ours may reach on the second. */
const ASKER_PORTS = [4318, 9090];
/** A public address, a private one, and that of a cloud's metadata: `cluster.sh outside` has them. */
const OUTSIDE_ADDRESSES = ['203.0.113.10', '192.168.77.10', '169.254.169.254'];
const OUTSIDE_PORTS = [25, 80, 443, 465, 587, 8080, 27_017];
const TIMEOUT_MS = 3_000;
/** A refused packet is dropped, so only a connection that should open is worth another try on a busy machine. */
const TRIES = 3;

const run = async (command: string, ...args: string[]) =>
  (await promisify(execFile)(command, args, { maxBuffer: 2 ** 26 })).stdout;
const kubectl = (...args: string[]) => run(join(folder, 'kubectl'), ...args);
const listOf = async <T>(...args: string[]): Promise<T[]> =>
  JSON.parse(await kubectl('get', ...args, '-o', 'json')).items;

async function apply(object: object): Promise<void> {
  const child = spawn(join(folder, 'kubectl'), ['apply', '-f', '-'], { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(JSON.stringify(object));
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error('kubectl apply failed');
}

const LISTEN =
  'for (const port of process.argv.slice(1)) require("node:net").createServer((one) => one.destroy()).listen(Number(port))';
const CONNECT = `
const { connect } = require('node:net');
Promise.all(JSON.parse(process.argv[1]).map(([host, port]) => new Promise((resolve) => {
  const socket = connect({ host, port }).once('connect', () => resolve(true)).once('error', () => resolve(false));
  setTimeout(() => resolve(false), ${TIMEOUT_MS}).unref();
  socket.setTimeout(${TIMEOUT_MS}, () => resolve(false));
}))).then((reached) => { console.log(JSON.stringify(reached)); process.exit(); });`;

const askerOf = (name: string) => `asker-${name}`;

/** Starts pods that the installation does not always have, and pods that have no business with it. */
async function startAskers(): Promise<void> {
  const jobs = await listOf<CronJob>('cronjobs', '-n', namespace);
  const templates = jobs.map(({ spec }) => structuredClone(spec.jobTemplate.spec.template));
  const [first] = templates;
  if (!first) throw new Error(`there is no template of jobs in ${namespace}`);
  const stranger = structuredClone(first);
  stranger.metadata.labels = { [NAME]: 'stranger' };
  const image = first.spec.containers[0].image;
  for (const template of [...templates, stranger]) {
    const [container] = template.spec.containers;
    container.command = ['sleep', 'infinity'];
    delete container.args;
    const metadata = { name: askerOf(template.metadata.labels[NAME]), namespace, labels: template.metadata.labels };
    const spec = { ...template.spec, restartPolicy: 'Always', terminationGracePeriodSeconds: 0 };
    await apply({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
  }
  for (const name of OTHER_NAMESPACES) {
    await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const args = ['-e', LISTEN, ...ASKER_PORTS.map(String)];
    const ports = ASKER_PORTS.map((containerPort) => ({ name: `p${containerPort}`, containerPort }));
    const container = { name: 'asker', image, imagePullPolicy: 'IfNotPresent', command: ['node'], args, ports };
    await apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'asker', namespace: name, labels: { [NAME]: 'asker' } },
      spec: { containers: [container], terminationGracePeriodSeconds: 0 },
    });
  }
  const ready = ['--for=condition=Ready', '--timeout=90s'];
  const ours = [...templates, stranger].map(({ metadata }) => `pod/${askerOf(metadata.labels[NAME])}`);
  await kubectl('-n', namespace, 'wait', ...ours, ...ready);
  for (const one of OTHER_NAMESPACES) await kubectl('-n', one, 'wait', 'pod/asker', ...ready);
}

/** Listens on every port of interest behind the node. */
function startOutside(): () => void {
  const command = [join(import.meta.dirname, 'cluster.sh'), folder, 'outside', process.execPath, '-e', LISTEN];
  const listener = spawn('bash', [...command, ...OUTSIDE_PORTS.map(String)], { stdio: 'inherit', detached: true });
  return () => void (listener.pid && process.kill(-listener.pid));
}

async function stopAll(): Promise<void> {
  const askers = (await listOf<Pod>('pods', '-n', namespace)).map(({ metadata }) => metadata.name);
  const own = askers.filter((name) => name.startsWith('asker-'));
  if (own.length > 0) await kubectl('-n', namespace, 'delete', 'pod', ...own, '--wait=false');
  await kubectl('delete', 'namespace', ...OTHER_NAMESPACES, '--ignore-not-found', '--wait=false');
}

function endOf({ metadata, spec, status }: Pod): End {
  const ports = spec.containers
    .flatMap((container) => container.ports ?? [])
    .filter(({ protocol = 'TCP' }) => protocol === 'TCP');
  return {
    ip: status.podIP,
    namespace: metadata.namespace,
    labels: metadata.labels ?? {},
    ports: Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort])),
  };
}

/** Returns one pod of each kind with its name, those of other namespaces with the namespace. */
async function readPods(): Promise<Map<string, Pod>> {
  const pods = new Map<string, Pod>();
  for (const one of [namespace, ...OTHER_NAMESPACES, 'kube-system']) {
    for (const pod of await listOf<Pod>('pods', '-n', one, '--field-selector=status.phase=Running')) {
      const { labels = {}, name } = pod.metadata;
      const kind = labels[NAME] ?? labels['k8s-app'] ?? name;
      // A job of the migration has ended, or is the asker that stands for it.
      if (one === namespace) pods.set(kind, pod);
      else pods.set(`${one}/${kind}`, pod);
    }
  }
  return pods;
}

async function readSources(pods: Map<string, Pod>): Promise<Source[]> {
  const tasks = await run(
    'ctr',
    '--address',
    join(folder, 'run/containerd.sock'),
    '--namespace',
    'k8s.io',
    'task',
    'list',
  );
  const pids = new Map(tasks.split('\n').map((line) => line.split(/\s+/).slice(0, 2) as [string, string]));
  return [...pods].map(([name, pod]) => {
    const id = pod.status.containerStatuses[0]?.containerID.replace('containerd://', '') ?? '';
    const pid = pids.get(id);
    if (!pid) throw new Error(`no process of ${name} is known`);
    return { name, pid, ...endOf(pod) };
  });
}

async function readTargets(pods: Map<string, Pod>): Promise<Target[]> {
  const ofPods = [...pods].flatMap(([name, pod]) => {
    const end = endOf(pod);
    return Object.values(end.ports ?? {}).map((port) => ({
      name: `${name}:${port}`,
      address: end.ip,
      port,
      end,
      endPort: port,
    }));
  });
  const ofServices = (await listOf<Service>('services', '-n', namespace)).flatMap(({ metadata, spec }) => {
    const pod = pods.get(spec.selector?.[NAME] ?? '');
    if (spec.clusterIP === 'None' || !pod) return [];
    const end = endOf(pod);
    return spec.ports.map(({ port, targetPort }) => {
      const endPort = typeof targetPort === 'string' ? (end.ports?.[targetPort] ?? 0) : targetPort;
      return { name: `Service ${metadata.name}:${port}`, address: spec.clusterIP, port, end, endPort };
    });
  });
  const outside = OUTSIDE_ADDRESSES.flatMap((ip) =>
    OUTSIDE_PORTS.map((port) => ({ name: `${ip}:${port}`, address: ip, port, end: { ip }, endPort: port })),
  );
  return [...ofPods, ...ofServices, ...outside];
}

async function connectFrom({ pid }: Source, targets: readonly Target[]): Promise<boolean[]> {
  const list = JSON.stringify(targets.map(({ address, port }) => [address, port]));
  return JSON.parse(await run('nsenter', `--net=/proc/${pid}/ns/net`, process.execPath, '-e', CONNECT, list));
}

const stopOutside = startOutside();
try {
  await startAskers();
  const pods = await readPods();
  const policies = await listOf<NetworkPolicy>('networkpolicies', '--all-namespaces');
  const targets = await readTargets(pods);
  let [tried, open, wrong] = [0, 0, 0];
  for (const source of await readSources(pods)) {
    // No policy applies between a pod and itself, which may stand behind its Service.
    const others = targets.filter(
      ({ end }) => end.namespace !== source.namespace || end.labels?.[NAME] !== source.labels?.[NAME],
    );
    const expected = others.map(({ end, endPort }) => isAllowed(policies, source, end, endPort));
    const reached = await connectFrom(source, others);
    for (let attempt = 1; attempt < TRIES; attempt += 1) {
      const missing = others.filter((_, index) => expected[index] && !reached[index]);
      if (missing.length === 0) break;
      const again = await connectFrom(source, missing);
      for (const [index, target] of missing.entries()) reached[others.indexOf(target)] = again[index] ?? false;
    }
    const named = others.filter((_, index) => reached[index]).map(({ name }) => name);
    process.stdout.write(
      `${source.name} reaches ${named.join(', ') || 'nothing'}; refused: ${others.length - named.length}\n`,
    );
    for (const [index, { name }] of others.entries()) {
      if (reached[index] === expected[index]) continue;
      wrong += 1;
      process.stdout.write(`WRONG: ${source.name} to ${name} is ${reached[index] ? 'open' : 'refused'}\n`);
    }
    tried += others.length;
    open += named.length;
  }
  process.stdout.write(`${tried} connections: ${open} open, ${tried - open} refused, ${wrong} against the policies\n`);
  process.exitCode = wrong > 0 ? 1 : 0;
} finally {
  stopOutside();
  await stopAll();
}
