// The ground attacks are tried on: a network of its own where every address there is leads to a canary, if the kernel gives one.
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { compiledCode } from '../../../deploy/local/service-env.ts';

const execute = promisify(execFile);

export interface Ground {
  /** Words in front of a command that runs there. Empty when there is no such ground. */
  wrapper: string[];
  /** For people. */
  description: string;
  /** Contains certificates, the forbidden file and what else an attack needs. */
  folder: string;
  remove(): Promise<void>;
}

/** The program that starts a system on the ground and attacks it. */
const ATTACKS = join(import.meta.dirname, 'inside.ts');

/** Where the name server of the ground listens. */
export const NAME_SERVER = '127.0.0.53';

// Every IPv4 and IPv6 address is ours, so is every port, and names are asked of us. The last is for what is to be unreachable.
const SET_UP = `set -e
ip link set lo up
ip route add local default dev lo
ip -6 route add local default dev lo 2>/dev/null || true
ip route add unreachable 93.184.216.35 table local
echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start
mount --bind "$0" /etc/resolv.conf
exec "$@"`;

/** Asks the kernel by trying. */
export async function findGround(): Promise<Ground> {
  const folder = await mkdtemp(join(tmpdir(), 'billhook-hostile-'));
  await execute('chmod', ['755', folder]);
  const resolver = join(folder, 'resolv.conf');
  await writeFile(resolver, `nameserver ${NAME_SERVER}\n`);
  await makeCertificate(folder);
  const remove = () => rm(folder, { recursive: true, force: true });

  const setUp = ['sh', '-c', SET_UP, resolver];
  const isRoot = process.getuid?.() === 0;
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  // Root was only needed for the preparation: services run as ordinary users, and so do these.
  const again = ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`];
  const wrapper = isRoot
    ? ['unshare', '--net', '--mount', ...setUp]
    : ['unshare', '--user', '--map-root-user', '--net', '--mount', ...setUp, ...again];
  try {
    const [program = '', ...rest] = [...wrapper, 'cat', '/etc/resolv.conf'];
    const { stdout } = await execute(program, rest, { timeout: 10_000 });
    if (!stdout.includes(NAME_SERVER)) throw new Error('names are not asked of us');
    return { wrapper, folder, remove, description: `a network namespace, made ${isRoot ? 'as root' : 'without root'}` };
  } catch (error) {
    const why = String((error as { stderr?: string }).stderr ?? error).trim();
    return { wrapper: [], folder, remove, description: `NO network namespace on this machine: ${why}` };
  }
}

/** For the public host of the test; without openssl there is none, and what needs it is not tried. */
async function makeCertificate(folder: string): Promise<void> {
  const names = 'subjectAltName=DNS:*.hostile.example,IP:93.184.216.34';
  const subject = ['-subj', '/CN=hostile.example', '-addext', names, '-days', '2'];
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
  await execute('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files]).catch(
    () => undefined,
  );
}

export async function readCertificate(folder: string) {
  try {
    return { key: await readFile(join(folder, 'key.pem')), cert: await readFile(join(folder, 'cert.pem')) };
  } catch {
    return undefined;
  }
}

/**
 * Makes the attacks on the ground.
 * @param onLine is given each line of JSON as it is reported.
 */
export async function attackOn(ground: Ground, args: string[], onLine: (line: unknown) => void) {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', ATTACKS, ...args];
  const [command = '', ...rest] = [...ground.wrapper, ...node];
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...compiledCode(process.env), NODE_OPTIONS: '' },
  });
  let problems = '';
  child.stderr.on('data', (chunk) => (problems = (problems + String(chunk)).slice(-5_000)));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{')) onLine(JSON.parse(line));
  }
  const code = await ended;
  if (code !== 0) throw new Error(`${ATTACKS} ended with ${code}:\n${problems}`);
}
