// The walls between rooms. A failure names the wall and the file that crossed it.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

interface Import {
  from: string;
  to: string;
}

const files = ['services', 'libs', 'deploy'].flatMap(sourcesIn);
const programs = ['test', 'lab'].flatMap(sourcesIn);
const imports = files.flatMap(importsOf);

/** Rooms of the gateway that every resource may use. */
const SHARED = ['http', 'limits', 'printing', 'fields'];

/** Rooms whose comments are sentences, or noun phrases that stand alone. `client` has mostly generated code. */
const IN_SENTENCES = ['libs', 'services', 'deploy', 'lab', 'test'];

/** The limit of `eventually`. */
const LIMIT_MIN_MS = 60_000;
/** Limits that are part of what is tested. */
const SHORT_LIMITS = [
  // A document that is printed by then is none to wait for.
  { file: 'test/support/faults/kinds/renderer-faults.ts', ms: 10_000 },
  // A part that is not ready has a minute.
  { file: 'test/system/local/run.test.ts', ms: 20_000 },
  // An attempt may take half a minute, and no process waits for it.
  { file: 'test/system/webhooks/service.test.ts', ms: 28_000 },
];

const room = (path: string) => path.split('/').slice(0, 2).join('/');
const resource = (path: string) => /^services\/gateway\/([\w-]+)\//.exec(path)?.[1];
const owned = (name: string, owners: RegExp) => (edge: Import) =>
  packageOf(edge.to) === name && !owners.test(edge.from);

const walls: Record<string, (edge: Import) => boolean> = {
  'a service never imports another service': ({ from, to }) =>
    from.startsWith('services/') && to.startsWith('services/') && room(from) !== room(to),
  'libs never import services': ({ from, to }) => from.startsWith('libs/') && to.startsWith('services/'),
  'nothing imports test or lab': ({ to }) => to.startsWith('test/') || to.startsWith('lab/'),
  'only deploy imports deploy': ({ from, to }) => to.startsWith('deploy/') && !from.startsWith('deploy/'),
  'a gateway resource never imports another resource': ({ from, to }) =>
    resource(from) !== undefined &&
    resource(to) !== undefined &&
    resource(from) !== resource(to) &&
    // The reference describes all resources.
    !SHARED.includes(resource(to) as string) &&
    resource(from) !== 'reference',
  'what resources share imports no resource': ({ from, to }) =>
    SHARED.includes(resource(from) as string) && resource(to) !== undefined && !SHARED.includes(resource(to) as string),
  'libs/billing knows no HTTP, no queue and no process': ({ from, to }) =>
    from.startsWith('libs/billing/') && /^(express$|bullmq$|libs\/(jobs|redis|service|outbound)\/)/.test(to),
  'libs/webhooks knows no HTTP, no queue and no process': ({ from, to }) =>
    from.startsWith('libs/webhooks/') && /^(express$|bullmq$|libs\/(jobs|redis|service)\/)/.test(to),
  'libs/input knows no operation': ({ from, to }) =>
    from.startsWith('libs/input/') && /^libs\/(billing|webhooks|documents|responses)\//.test(to),
  'libs/rules computes, and knows no record, no store and no process': ({ from, to }) =>
    from.startsWith('libs/rules/') &&
    to.startsWith('libs/') &&
    !/^libs\/(rules\/|identifiers\/|errors\.ts$|day\.ts$|profile-forms\.ts$)/.test(to),
  'libs/models never imports libs/billing or libs/webhooks': ({ from, to }) =>
    from.startsWith('libs/models/') && /^libs\/(billing|webhooks)\//.test(to),
  'libs/billing never imports libs/webhooks': ({ from, to }) =>
    from.startsWith('libs/billing/') && to.startsWith('libs/webhooks/'),
  'only services that answer callers know the shapes of responses': ({ from, to }) =>
    to.startsWith('libs/responses/') && !/^(libs\/responses|services\/(gateway|portal))\//.test(from),
  'libs/jobs and libs/models do not know each other': ({ from, to }) =>
    (room(from) === 'libs/jobs' && room(to) === 'libs/models') ||
    (room(from) === 'libs/models' && room(to) === 'libs/jobs'),
  'only http/list.ts reads pages of records, so that every filter of a list is applied': ({ from, to }) =>
    from.startsWith('services/') && to === 'libs/models/listing.ts' && from !== 'services/gateway/http/list.ts',
  'only libs/jobs knows bullmq': owned('bullmq', /^libs\/jobs\//),
  'only libs/models, libs/mongo and the stores of services know mongoose': owned(
    'mongoose',
    /^(libs\/(models|mongo)|services\/\w+\/store)\//,
  ),
  'only libs/redis and deploy know ioredis': owned('ioredis', /^(libs\/redis|deploy\/(local|backends))\//),
  'only libs/service knows pino': owned('pino', /^libs\/service\/logger\.ts/),
  'only the gateway and the services with pages know express': owned(
    'express',
    /^(services\/(gateway|operations|portal)|libs\/pages)\//,
  ),
  'only the services with pages know preact': owned('preact', /^(services\/(operations|portal)|libs\/pages)\//),
  'libs/pages draws pages, and knows no record and no store': ({ from, to }) =>
    from.startsWith('libs/pages/') && to.startsWith('libs/') && !to.startsWith('libs/pages/'),
  'only the services with pages know libs/pages': ({ from, to }) =>
    to.startsWith('libs/pages/') && !/^(libs\/pages|services\/(operations|portal)|deploy\/local)\//.test(from),
  'only the renderer knows puppeteer': owned('puppeteer-core', /^services\/renderer\//),
  'only the renderer knows ejs': owned('ejs', /^services\/renderer\//),
  'only the renderer knows sharp': owned('sharp', /^services\/renderer\//),
  'only the portal knows stripe': owned('stripe', /^services\/portal\/stripe\//),
  'only the mail service knows nodemailer': owned('nodemailer', /^services\/mail\//),
  'only npm start receives mail': owned('smtp-server', /^deploy\/local\//),
  'only npm start and the thread that reads delivery reports parse mail': owned(
    'mailparser',
    /^(deploy\/local|services\/gateway\/messages\/report)\//,
  ),
  'only the reading of e-invoices knows sax': owned('sax', /^libs\/e-invoice\/read\//),
  'only webhooks knows axios': owned('axios', /^services\/webhooks\//),
  // Its index has more than two hundred modules, which every process and every test file would load.
  'es-toolkit is imported one function at a time': ({ to }) => to === 'es-toolkit',
  'the renderer has no database': ({ from, to }) =>
    from.startsWith('services/renderer/') && /^libs\/(models|mongo)\//.test(to),
};

describe('walls', () => {
  test.each(Object.entries(walls))('%s', (_wall, isCrossing) => {
    expect(imports.filter(isCrossing)).toEqual([]);
  });

  test('test never imports lab: what both need is in test/support', () => {
    const edges = programs.flatMap(importsOf);
    expect(edges.filter(({ from, to }) => from.startsWith('test/') && to.startsWith('lab/'))).toEqual([]);
    expect(edges.filter(({ from, to }) => from.startsWith('lab/') && to.startsWith('test/support/'))).not.toEqual([]);
  });

  test('the imports were found, so that the walls can fail', () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.filter(({ to }) => packageOf(to) === 'bullmq')).not.toEqual([]);
  });
});

describe('conventions', () => {
  test('only main.ts files and deploy/local read process.env', () => {
    const readers = files.filter((file) => readFileSync(file, 'utf8').includes('process.env'));
    expect(readers.filter((file) => !file.endsWith('/main.ts') && !/^deploy\/(local|backends)\//.test(file))).toEqual([
      // Names the type NodeJS.ProcessEnv and process.env in a sentence, reads neither.
      'libs/service/env.ts',
    ]);
  });

  test('a service that counts tries of records forgets those in work when it stops in order', () => {
    const begins = (file: string) => /\bopenTr(?:ies|yAgain)\(/.test(readFileSync(file, 'utf8'));
    const counting = files.filter((file) => file.startsWith('services/') && begins(file));
    const mains = [...new Set(counting.map((file) => `${file.split('/').slice(0, 2).join('/')}/main.ts`))];
    expect(mains).toHaveLength(4);
    expect(mains.filter((main) => !readFileSync(main, 'utf8').includes('forgetTriesInWork()'))).toEqual([]);
  });

  test('production code has no switch that ends a process at a chosen point: the lab watches from outside', () => {
    const switches = /\bcrash[-_ ]?(at|point)|onStep\b|onCrash/i;
    expect(files.filter((file) => switches.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  test('no test writes a time so long past that MongoDB may remove its record during the test', () => {
    const removed = files.flatMap((file) => {
      const indexes = readFileSync(file, 'utf8').matchAll(/\.index\(\{ (\w+): -?1 \}, \{[^}]*expireAfterSeconds/g);
      return [...indexes].map(([, field]) => field);
    });
    expect(removed).toContain('settled_at');
    const past = new RegExp(`\\b(?:${[...new Set(removed)].join('|')}): new Date\\(\\d[\\d_]*\\)`);
    expect(programs.filter((file) => past.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  test('only records that insertOwn stored are removed with removeOwn and its like: both count the bytes of the account', () => {
    const namesIn = (pattern: RegExp) =>
      files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, name]) => String(name)));
    const stored = new Set(namesIn(/\binsertOwn\(\s*([A-Z]\w+),/g));
    const removed = new Set(namesIn(/\bremove(?:Own|Batch|AllWith)\(\s*([A-Z]\w+),/g));
    expect(removed.size).toBeGreaterThan(15);
    expect([...removed].filter((name) => !stored.has(name))).toEqual([]);
  });

  test('events are stored by a unit of work or by insertLastEvent, which count their bytes at the end', () => {
    const storing = files.filter((file) => /\binsertEvents?\(/.test(readFileSync(file, 'utf8')));
    expect(storing).toEqual(['libs/billing/pending-events.ts', 'libs/models/webhooks/event.ts']);
  });

  test('no test of a service sets a fail point by itself: the server is shared, and all files would wait', () => {
    const setting = programs.filter((file) => /configureFailPoint:/.test(readFileSync(file, 'utf8')));
    expect(setting.filter((file) => /^test\/(?:service|journeys|sweeps)\//.test(file))).toEqual([]);
    expect(setting).toContain('test/support/mongodb-errors.ts');
  });

  test('a test of the service tier has its services in its own process: the system tier starts and ends them as processes', () => {
    const starting = programs.filter((file) =>
      /\b(?:spawn|launch)(?:Service|Gateway|Renderer)\(/.test(readFileSync(file, 'utf8')),
    );
    expect(starting.filter((file) => file.startsWith('test/service/'))).toEqual([]);
    expect(starting).toContain('test/system/renderer/render-document.test.ts');
  });

  test('a limit of a test only ends a hang: none is shorter than a slow machine takes', () => {
    const places = programs
      .filter((file) => /^test\/(?:service|journeys|system|support)\//.test(file))
      .flatMap((file) => limitsIn(readFileSync(file, 'utf8')).map((ms) => ({ file, ms })));
    expect(places.length).toBeGreaterThan(20);
    expect(places.filter(({ ms }) => ms < LIMIT_MIN_MS)).toEqual(SHORT_LIMITS);
  });

  test('every cache has a row in docs/architecture.md that says what it saves or bounds', () => {
    const page = readFileSync('docs/architecture.md', 'utf8');
    const caches = files.filter((file) => /new LRUCache|memoize\(|new DataLoader/.test(readFileSync(file, 'utf8')));
    expect(caches).toContain('libs/models/accounts/key-cache.ts');
    expect(caches.filter((file) => !page.includes(`\`${file.replace('services/', '')}\``))).toEqual([]);
  });

  test('services hear of the end of a response in libs/http/when-closed.ts alone: Node warns of a leak from eleven listeners on', () => {
    const listeners = /\bresponse\.(on|once|prependListener|prependOnceListener)\('close'/;
    const found = files.filter(
      (file) => /^(services\/gateway|libs\/http)\//.test(file) && listeners.test(readFileSync(file, 'utf8')),
    );
    expect(found).toEqual(['libs/http/when-closed.ts']);
  });

  test('every file says in its first line what it is for', () => {
    const silent = [...files, ...programs].filter((file) => !/^(?:#!.*\n)?\/\/ \S/.test(readFileSync(file, 'utf8')));
    expect(silent).toEqual([]);
  });

  test('no file has a name that says nothing', () => {
    const banned = /(^|[/-])(utils?|helpers?|common|shared|misc|managers?|base|abstract|impl|dto)([./-]|$)/;
    expect([...files, ...programs].filter((file) => banned.test(file))).toEqual([]);
  });

  test('code and pages use the words of docs/architecture.md', () => {
    const found = texts().flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line, index) => {
          // "nobody" is also the name of a user on every Unix.
          const word = DIALECT.exec(line.replaceAll(/"nobody"|\bNOBODY\b|asNobody/g, ''))?.[0];
          return word === undefined
            ? []
            : [`${file}:${index + 1}: "${word}" names no actor, or is not the field's term`];
        }),
    );
    expect(found).toEqual([]);
  });

  test.each(IN_SENTENCES)('comments of %s begin with a subject or a verb', (area) => {
    const files = sourcesIn(area);
    expect(files).not.toEqual([]);
    const fragments = files.flatMap((file) =>
      commentsIn(readFileSync(file, 'utf8'))
        .filter(({ text }) => FRAGMENT.test(text))
        .map(({ line, text }) => `${file}:${line}: "${text}" has no subject, see Comments in CONTRIBUTING.md`),
    );
    expect(fragments).toEqual([]);
  });

  test('the start of every kind of comment is found, so that the rule can fail', () => {
    const source = [
      '// What it is.',
      '// Of two lines.',
      ['f();', '// As below.'].join(' '),
      "const url = 'https://what.example';",
      '/** Whose it is. */',
      '/**',
      ' * Which one.',
      ' * What follows.',
      ' */',
    ].join('\n');
    const found = commentsIn(source).filter(({ text }) => FRAGMENT.test(text));
    expect(found.map(({ line }) => line)).toEqual([1, 3, 5, 7]);
  });

  test('file names are in kebab-case', () => {
    const wrong = [...files, ...programs].filter((file) => !/^[a-z0-9/.-]+$/.test(file));
    expect(wrong).toEqual([]);
  });

  test('there are no cycles between files', () => {
    expect(findCycle(imports)).toBeUndefined();
  });
});

/** A first word that leaves a comment without its subject: it can only be read together with the code below. */
const FRAGMENT = /^(What|Of|As|Whose|Which|Who)\b/i;

/** The first line of each comment. Lines of `//` that follow each other are one comment. */
function commentsIn(source: string): { line: number; text: string }[] {
  const lines = source.split('\n');
  return lines.flatMap((line, index) => {
    const before = lines[index - 1]?.trim() ?? '';
    const [, mark, text] = /(?:^\s*|\s)(\/\/|\/\*\*?)(?:\s+(.*)|)$/.exec(line) ?? [];
    if (mark === undefined || (/^\s*\/\//.test(line) && before.startsWith('//'))) return [];
    if (mark === '//' || text) return [{ line: index + 1, text: text ?? '' }];
    return [{ line: index + 2, text: lines[index + 1]?.replace(/^\s*\*\s?/, '') ?? '' }];
  });
}

/** Words that only this project used, or that hide who acts. */
const DIALECT =
  /\b(errands?|whoever|nobody|somebody|lets? go of|had? in hand|in hand|puts? aside|(is|are|was|were) told|knocks?|lapse[sd]?|untold|workplace|specimens?|rehears\w*)\b/i;

/** Code, tests, manifests and pages. Tables of runs keep what the programs printed then. */
function texts(): string[] {
  const roots = ['services', 'libs', 'deploy', 'lab', 'docs', 'client', 'test', '.github'];
  const files = roots.flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)),
  );
  return [...files, 'README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'docker-compose.yml'].filter(
    (file) => /\.(ts|mjs|md|ya?ml|sh)$/.test(file) && file !== 'test/unit/tidy.test.ts',
  );
}

/** Returns the limits of tests, hooks and waits that are written as a number. Shorter ones than a second are pauses. */
function limitsIn(source: string): number[] {
  const limits = source.matchAll(/(?:^\s*\}|\beventually\(.*), (\d[\d_]*)\)/gm);
  return [...limits].map(([, ms]) => Number(ms?.replaceAll('_', ''))).filter((ms) => ms >= 1_000);
}

function sourcesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(root, name))
    .sort();
}

function importsOf(from: string): Import[] {
  const source = readFileSync(from, 'utf8');
  const specifiers = [...source.matchAll(/^(?:import|export)\s[^;]*?from '([^']+)'|import\('([^']+)'\)/gm)];
  return specifiers.map(([, fixed, lazy]) => ({ from, to: resolve(from, (fixed ?? lazy) as string) }));
}

function resolve(from: string, to: string): string {
  if (to.startsWith('#libs/')) return to.slice(1);
  return to.startsWith('.') ? join(dirname(from), to) : to;
}

function packageOf(to: string): string {
  return to
    .split('/')
    .slice(0, to.startsWith('@') ? 2 : 1)
    .join('/');
}

function findCycle(edges: Import[]): string[] | undefined {
  const next = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  const visit = (file: string, trail: string[]): string[] | undefined => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const { to } of next.get(file) ?? []) {
      const cycle = visit(to, [...trail, file]);
      if (cycle) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of next.keys()) {
    const cycle = visit(file, []);
    if (cycle) return cycle;
  }
  return undefined;
}
