// Scales the renderers of an installation by the length of their queue, as KEDA would: the query and the threshold are those of the chart, the
// answers a real Prometheus's. Sends documents until three renderers are ready, and waits until one is left. With --keda it only watches what
// KEDA does. Runs in the network of the cluster.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { billhook } from '../../client/index.ts';
import { pdfOf } from '../../test/support/pdf-body.ts';

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: '' },
    helm: { type: 'string', default: '' },
    prometheus: { type: 'string', default: 'prometheus' },
    url: { type: 'string', default: '' },
    namespace: { type: 'string', default: 'billing' },
    keda: { type: 'boolean', default: false },
  },
});
const { folder, namespace } = values;
const [FEWEST, MOST] = [1, 3];
const ASK_EVERY_MS = 1_000;
/** The time without documents before a renderer is taken away. KEDA's own is minutes. */
const CALM_MS = 15_000;
/** KEDA's numbers take effect when the autoscaler of Kubernetes looks, every 15 seconds. */
const LIMIT_MS = values.keda ? 480_000 : 240_000;
const PORT = 9_099;
const TARGETS = join(folder, 'targets.json');
/** Fewer than one account may ask for in a minute. */
const DOCUMENTS_OF_KEY = 110;
const IN_FLIGHT = 24;
const KEYS = (process.env['BURST_KEYS'] ?? '').split(/\s+/).filter(Boolean);
const LINES = 500;

const run = promisify(execFile);
const kubectl = async (...args: string[]) => (await run('kubectl', ['-n', namespace, ...args])).stdout;
const begun = Date.now();
const say = (what: string) => process.stdout.write(`${((Date.now() - begun) / 1_000).toFixed(1)} s: ${what}\n`);

async function readTrigger(): Promise<{ query: string; threshold: number }> {
  const chart = join(folder, 'chart/billhook');
  const { stdout } = await run(
    values.helm,
    ['template', 'billhook', chart, '-n', namespace, '--set', 'keda.enabled=true'],
    {
      maxBuffer: 2 ** 24,
    },
  );
  const objects = parseAllDocuments(stdout).map((document) => document.toJS());
  const found = objects.find((one) => one?.kind === 'ScaledObject' && one.metadata.name === 'renderer');
  const { query, threshold } = found.spec.triggers[0].metadata;
  return { query, threshold: Number(threshold) };
}

/** Debian's Prometheus cannot ask Kubernetes for its pods. */
async function writeTargets(): Promise<void> {
  const form = 'jsonpath={range .items[*]}{.metadata.name} {.status.podIP}{"\\n"}{end}';
  const pods = await kubectl('get', 'pods', '-l', 'app.kubernetes.io/name in (gateway,renderer)', '-o', form);
  const targets = pods.split('\n').flatMap((line) => {
    const [pod, ip] = line.split(' ');
    return ip ? [{ targets: [`${ip}:9090`], labels: { namespace, pod } }] : [];
  });
  // Prometheus reads the file at any moment: a half-written one would say that there are no pods.
  await writeFile(`${TARGETS}.new`, JSON.stringify(targets));
  await rename(`${TARGETS}.new`, TARGETS);
}

async function startPrometheus(): Promise<ChildProcess> {
  await writeTargets();
  const job = { job_name: 'billhook', file_sd_configs: [{ files: [TARGETS] }] };
  const config = join(folder, 'prometheus.json');
  await writeFile(
    config,
    JSON.stringify({ global: { scrape_interval: '2s', scrape_timeout: '2s' }, scrape_configs: [job] }),
  );
  const data = join(folder, 'prometheus-data');
  const args = [`--config.file=${config}`, `--storage.tsdb.path=${data}`, `--web.listen-address=0.0.0.0:${PORT}`];
  return spawn(values.prometheus, [...args, '--log.level=warn'], { stdio: 'inherit' });
}

/** Returns undefined while the query has no result, which is not the same as nothing to do. */
async function ask(query: string): Promise<number | undefined> {
  const url = `http://127.0.0.1:${PORT}/api/v1/query?query=${encodeURIComponent(query)}`;
  const answer = await fetch(url).then(
    (response) => response.json() as Promise<{ data: { result: { value: [number, string] }[] } }>,
    () => undefined,
  );
  const value = answer?.data.result[0]?.value[1];
  return value === undefined ? undefined : Number(value);
}

const ready = async () =>
  Number(await kubectl('get', 'deployment', 'renderer', '-o', 'jsonpath={.status.readyReplicas}'));

async function sendDocuments(): Promise<void> {
  const clients = KEYS.map((key) => billhook({ url: values.url, key, retries: 0 }));
  const line = { description: 'Design of an engine that computes', qty: 1, rate: '1.00' };
  const body = { ...pdfOf('Invoice'), lineItems: Array.from({ length: LINES }, () => line) };
  const waiting = Array.from({ length: DOCUMENTS_OF_KEY }, () => clients).flat();
  const sender = async () => {
    for (let client = waiting.pop(); client; client = waiting.pop()) await client.generatePdf({ body });
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sender));
}

const prometheus = await startPrometheus();
try {
  const { query, threshold } = await readTrigger();
  say(`query ${query}, one renderer for ${threshold}`);
  const until = Date.now() + LIMIT_MS;
  while ((await ask(query)) === undefined) {
    if (Date.now() > until) throw new Error('the query has no result');
    await pause(ASK_EVERY_MS);
  }
  let documents: Promise<unknown> | undefined;
  let [wanted, seen, most, calmSince] = [FEWEST, 0, 0, Date.now()];
  for (;;) {
    if (Date.now() > until) throw new Error(`not 1, 3 and 1 renderers within ${LIMIT_MS / 1_000} s`);
    await writeTargets();
    const value = await ask(query);
    const desired = Math.min(MOST, Math.max(FEWEST, Math.ceil((value ?? 0) / threshold)));
    if (value === undefined || desired >= wanted) calmSince = Date.now();
    const next = desired > wanted ? desired : Date.now() - calmSince > CALM_MS ? wanted - 1 : wanted;
    if (values.keda) wanted = Number(await kubectl('get', 'deployment', 'renderer', '-o', 'jsonpath={.spec.replicas}'));
    else if (next !== wanted) {
      say(`${value} jobs: ${wanted} renderers become ${next}`);
      await kubectl('scale', 'deployment/renderer', `--replicas=${next}`);
      wanted = next;
      calmSince = Date.now();
    }
    const now = await ready();
    if (now !== seen) say(`${now} ready, ${value} jobs`);
    seen = now;
    most = Math.max(most, now);
    if (!documents && now === FEWEST) {
      documents = sendDocuments().then(() => say(`${KEYS.length * DOCUMENTS_OF_KEY} documents made`));
      void documents.catch(() => undefined); // It is awaited at the end.
    }
    if (most === MOST && wanted === FEWEST && now === FEWEST) break;
    await pause(ASK_EVERY_MS);
  }
  await documents;
} finally {
  prometheus.kill();
}
