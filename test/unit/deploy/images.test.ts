// The Dockerfile and the compose file: what each image holds is what its service imports, and no container has more power than it needs.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { nodeEnvironmentOf, nodeFlagsOf } from '../../../deploy/local/node-flags.ts';
import { REDIS_USERS } from '../../../deploy/redis/users.ts';
import { guideNames } from '../../../services/gateway/reference/pages/guides.ts';
import { variablesOf } from './configuration.ts';

const dockerfile = readFileSync('deploy/docker/Dockerfile', 'utf8').replaceAll('\\\n', ' ');
const services = ['gateway', 'mail', 'operations', 'portal', 'renderer', 'scheduler', 'webhooks', 'admin'];
const EPERM = 1;
const ENOSYS = 38;
// So that a search which finds nothing is noticed.
const MUST_FIND: Record<string, string[]> = {
  gateway: ['express', 'mailparser', 'mongoose', 'mongodb', 'bullmq', 'ioredis'],
  operations: ['express', 'htm', 'mongoose', 'bullmq'],
  portal: ['express', 'helmet', 'htm', 'mongoose'],
  mail: ['bullmq', 'mongoose'],
  scheduler: ['mongoose', 'ioredis'],
  renderer: ['ejs', 'hyphen', 'puppeteer-core', 'devtools-protocol', 'sharp'],
  webhooks: ['axios', 'standardwebhooks', 'mongoose'],
  admin: ['commander', 'mongodb'],
};

/** The instructions of a stage, by its name. */
const stages = Object.fromEntries(
  dockerfile
    .split(/^FROM /m)
    .slice(1)
    .map((text) => [/ AS (\S+)/.exec(text)?.[1] ?? '', text]),
);

describe.each(services)('the image of %s', (service) => {
  const stage = stages[service] ?? '';

  test('when it runs, then it runs as an ordinary user, under tini, without a build', () => {
    expect([...stage.matchAll(/^USER (\S+)/gm)].at(-1)?.[1]).toBe('10001:10001');
    expect(stage).toMatch(service === 'renderer' ? /^image AS/ : /^runtime AS/);
    expect(`${stages['image']}${stage}`).toMatch(/ENTRYPOINT \["\/usr\/bin\/tini", "--"/);
    const environment = [...stage.matchAll(/\bMALLOC_\w+=\w+/g)].map(([set]) => set);
    expect(environment).toEqual(Object.entries(nodeEnvironmentOf(service)).map(([name, value]) => `${name}=${value}`));
    const command = ['node', ...nodeFlagsOf(service), `services/${service}/main.ts`];
    expect(stage).toContain(`${command.map((word) => JSON.stringify(word)).join(', ')}]`);
  });

  test('when it is built, then it contains its own service and the libraries', () => {
    const copied = [...stage.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].map(([, from]) => from);
    const more = service === 'admin' ? ['deploy/docker/prepare.ts', 'deploy/backup', 'deploy/redis'] : [];
    const guides =
      service === 'gateway'
        ? [
            guideNames
              .map((name) => `docs/${name}.md`)
              .toSorted()
              .join(' '),
          ]
        : [];
    expect(copied).toEqual(['package.json', 'libs', `services/${service}`, ...guides, ...more]);
  });

  test('when packages are left out, then the service uses none of them', () => {
    const source = /COPY --from=(\S+) /.exec(stage)?.[1] ?? '';
    const left = [leftOut(source), leftOut('packages')].flat();
    const used = packagesOf([
      ...sourcesIn(`services/${service}`),
      ...(service === 'admin'
        ? ['deploy/docker/prepare.ts', ...sourcesIn('deploy/backup'), ...sourcesIn('deploy/redis')]
        : []),
    ]);
    expect([...used]).toEqual(expect.arrayContaining(MUST_FIND[service] ?? []));
    expect(left.filter((name) => name && [...used].some((one) => one === name || one.startsWith(`${name}/`)))).toEqual(
      [],
    );
  });
});

test('when the health of a container is probed, then it is well if /readyz answers 200, and not otherwise', async () => {
  const [, probe = '[]'] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(stages['image'] ?? '') ?? [];
  const [program = '', ...args] = JSON.parse(probe) as string[];
  const run = (port: number) =>
    new Promise<boolean>((resolve) => {
      execFile(program, args, { env: { ...process.env, HEALTH_PORT: String(port) } }, (error) => resolve(!error));
    });
  let status = 200;
  const server = createServer(({ url }, response) => {
    response.writeHead(url === '/readyz' ? status : 404, { 'Content-Type': 'application/json' }).end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await run(port)).toBe(true);
  status = 503;
  expect(await run(port)).toBe(false);
  server.close();
  await once(server, 'close');
  expect(await run(port)).toBe(false);
});

test('when a file goes into an image, then it is among those that are sent to the builder', () => {
  const sent = readFileSync('.dockerignore', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, from = '']) => from.split(' '));
  expect(copied.length).toBeGreaterThan(5);
  expect(
    copied.filter((path) => !existsSync(path) || !sent.some((one) => path === one || path.startsWith(`${one}/`))),
  ).toEqual([]);
});

test('when no image is configured, then the default images have a version', () => {
  expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:24\.\d+\.\d+-bookworm-slim$/m);
  expect(
    [...dockerfile.matchAll(/^FROM (\S+)/gm)]
      .map(([, from]) => from)
      .filter((from) => from !== 'scratch' && !stages[from ?? '']),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the builder fills it in.
  ).toEqual(Array(2).fill('${NODE_IMAGE}'));
  const images = Object.values<{ image: string }>(
    parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }).services,
  );
  expect(images.map(({ image }) => image).filter((image) => !/:-[^}]*:v?\d|^billhook\//.test(image))).toEqual([]);
});

describe('compose', () => {
  const compose = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true });
  const networks = (name: string): string[] => compose.services[name].networks;

  test.each([...services, 'prepare', 'redis-users', 'migrate'])('when %s runs, then it has no privilege', (name) => {
    expect(compose.services[name]).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: expect.arrayContaining(['no-new-privileges:true']),
    });
  });

  test.each(['gateway', 'mail', 'operations', 'portal', 'renderer', 'scheduler', 'webhooks'])(
    'when %s has a setting, then compose sets it or passes it on',
    (name) => {
      const set = Object.keys(compose.services[name].environment).map((one) => one.replace(/_FILE$/, ''));
      // Inside a container these have one right value, which the image knows.
      const fixed = [
        'HOST',
        'PORT',
        'OPERATIONS_HOST',
        'OPERATIONS_PORT',
        'PORTAL_HOST',
        'PORTAL_PORT',
        'HEALTH_HOST',
        'HEALTH_PORT',
        'CHROMIUM_PATH',
      ];
      const read = variablesOf(name)
        .filter(({ description }) => !description.startsWith('For tests'))
        .map((variable) => variable.name);
      expect(new Set(set)).toEqual(new Set(read.filter((one) => !fixed.includes(one))));
    },
  );

  test('when a port is published, then only the API and the portal may be published beyond this machine', () => {
    const published = Object.entries<{ ports?: string[] }>(compose.services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => `${name} ${port}`),
    );
    expect(published.filter((port) => !/^\w+ 127\.0\.0\.1:/.test(port))).toEqual([
      // biome-ignore lint/suspicious/noTemplateCurlyInString: compose fills these in.
      'gateway ${HOST:-127.0.0.1}:${PORT:-8080}:8080',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: compose fills these in.
      'portal ${PORTAL_HOST:-127.0.0.1}:${PORTAL_PORT:-8070}:8070',
    ]);
  });

  test('when the renderer is compromised, then it can reach neither the database nor the key', () => {
    expect(networks('renderer').filter((network) => networks('mongodb').includes(network))).toEqual([]);
    expect(compose.services.renderer.volumes).toEqual(['redis-renderer:/run/redis-user:ro']);
    expect(Object.keys(compose.services.renderer.environment).join()).not.toMatch(/MONGODB|SECRET/);
    for (const name of ['records', 'queue']) expect(compose.networks[name]).toEqual({ internal: true });
    for (const name of ['mongodb', 'redis']) {
      expect(networks(name).every((network) => compose.networks[network].internal)).toBe(true);
    }
  });

  test('when a service is not the mail service, then it has no login of the SMTP server', () => {
    const having = Object.entries<{ environment?: Record<string, string> }>(compose.services).filter(
      ([, { environment = {} }]) => Object.keys(environment).some((name) => name.startsWith('SMTP_URL')),
    );
    expect(having.map(([name]) => name)).toEqual(['mail']);
  });

  test('when the stores start, then MongoDB is a replica set and Redis persists everything and evicts nothing', () => {
    expect(compose.services.mongodb.command).toEqual(expect.arrayContaining(['--replSet', 'rs0']));
    const redis = compose.services.redis.command.join(' ');
    expect(redis).toMatch(/--appendonly yes .*--maxmemory-policy noeviction/);
  });

  test.each(REDIS_USERS)(
    'when %s connects to Redis, then it is a user of its own, whose password no other service can read',
    (user) => {
      const mounted = Object.entries<{ volumes?: string[] }>(compose.services).flatMap(([name, { volumes = [] }]) =>
        volumes.filter((volume) => volume.startsWith(`redis-${user}:`)).map((volume) => `${name} ${volume}`),
      );
      const commands = user === 'admin' ? ['admin', 'migrate'] : [user];
      expect(new Set(mounted)).toEqual(
        new Set([
          ...commands.map((name) => `${name} redis-${user}:/run/redis-user:ro`),
          `redis-users redis-${user}:/var/lib/redis-users/${user}`,
        ]),
      );
      expect(compose.services[user].environment).toMatchObject({ REDIS_URL_FILE: '/run/redis-user/redis-url' });
      expect(compose.services[user].environment).not.toHaveProperty('REDIS_URL');
      expect(compose.volumes).toHaveProperty(`redis-${user}`);
      // A new volume takes the owner of the folder in the image, and only that one may write into it.
      expect(stages['admin']).toContain(`/var/lib/redis-users/${user}`);
    },
  );

  test('when Redis starts, then it has the users of the services and waits until they are written', () => {
    const { command, volumes, depends_on } = compose.services.redis;
    expect(command.join(' ')).toContain('--aclfile /run/redis-acl/users.acl');
    expect(volumes).toContain('redis-acl:/run/redis-acl:ro');
    expect(depends_on).toEqual({ 'redis-users': { condition: 'service_completed_successfully' } });
    const makes = compose.services['redis-users'];
    expect(makes.command).toEqual(['--url', 'redis://redis:6379', '--folder', '/var/lib/redis-users']);
    expect(makes.volumes).toContain('redis-acl:/var/lib/redis-users/acl');
    expect(makes.environment.REDIS_PREFIX).toBe(compose.services.gateway.environment.REDIS_PREFIX);
  });

  test('when a service stops, then compose gives it longer than its own limit', () => {
    for (const name of ['gateway', 'mail', 'operations', 'portal', 'renderer', 'scheduler', 'webhooks'])
      expect(compose.services[name].stop_grace_period).toBe('45s');
    expect(readFileSync('libs/service/lifecycle.ts', 'utf8')).toContain('CLOSE_LIMIT_MS = 40_000');
  });

  test('when Chromium needs namespaces of its own, then the profile allows them and blocks what no service needs', () => {
    expect(compose.services.renderer.security_opt).toContain('seccomp:deploy/docker/chromium-seccomp.json');
    const profile = JSON.parse(readFileSync('deploy/docker/chromium-seccomp.json', 'utf8'));
    const namesWith = (action: string): string[] =>
      profile.syscalls.flatMap((entry: { names: string[]; action: string }) =>
        entry.action === action ? entry.names : [],
      );
    const allowed = namesWith('SCMP_ACT_ALLOW');
    // A system call that a later kernel brings does not exist (ENOSYS), so that glibc and Chromium use the older one they know.
    expect([profile.defaultAction, profile.defaultErrnoRet]).toEqual(['SCMP_ACT_ERRNO', ENOSYS]);
    expect(allowed).toEqual(expect.arrayContaining(['clone', 'clone3', 'unshare', 'chroot', 'execve', 'futex']));
    const forbidden = ['bpf', 'io_uring_setup', 'keyctl', 'mount', 'ptrace', 'setns', 'userfaultfd'];
    expect(namesWith('SCMP_ACT_ERRNO')).toEqual(expect.arrayContaining(forbidden));
    expect(allowed.filter((name) => namesWith('SCMP_ACT_ERRNO').includes(name))).toEqual([]);
    expect(profile.syscalls.at(-1)).toMatchObject({ action: 'SCMP_ACT_ERRNO', errnoRet: EPERM });
  });
});

// All files of a service: some are named in a string, to run as a worker or a process of their own.
function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}

/** Returns the packages that a stage of the Dockerfile removes. */
function leftOut(stage: string): string[] {
  const removed = [...(stages[stage] ?? '').matchAll(/rm -rf (.+?)(?: && |$)/gm)].flatMap(([, names = '']) =>
    names.trim().split(/\s+/),
  );
  return removed.map((name) => name.replace(/^node_modules\//, '')).filter((name) => !/^deploy$|^\/tmp\//.test(name));
}

/** Every package the sources at `entries` load, and every package those depend on. */
function packagesOf(entries: string[]): Set<string> {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const sources = [...entries];
  for (let file = sources.pop(); file; file = sources.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    // Types are gone before anything runs.
    const text = readFileSync(file, 'utf8').replaceAll(/^import type [^;]*;/gm, '');
    for (const [, name = ''] of text.matchAll(/(?:from |import |import\(|require\(|new URL\()['`]([^'`\n]+)['`]/gm)) {
      const local = name.startsWith('#libs/') ? name.slice(1) : name.startsWith('.') ? join(dirname(file), name) : '';
      if (local.endsWith('.ts') && existsSync(local)) sources.push(local);
      if (!local && existsSync(join('node_modules', nameOf(name)))) addWithDependencies(nameOf(name), packages);
    }
  }
  return packages;
}

function nameOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function addWithDependencies(name: string, packages: Set<string>) {
  const path = join('node_modules', name, 'package.json');
  if (packages.has(name) || !existsSync(path)) return;
  packages.add(name);
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(path, 'utf8'));
  for (const one of Object.keys({ ...dependencies, ...optionalDependencies })) addWithDependencies(one, packages);
}
