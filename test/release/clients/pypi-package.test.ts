// The package `billhook` for PyPI as a newcomer meets it: its wheel in a fresh virtual environment, and the blocks of its README in one file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect } from '@jest/globals';
import getPort from 'get-port';
import { Webhook } from 'standardwebhooks';
import { programOf } from '../../support/clients/blocks.ts';
import { FLOWS, testWith } from '../../support/clients/described-system.ts';
import { programTool, runTool, wheelsTool } from '../../support/clients/tools.ts';
import { startSystem, type TestSystem } from '../../support/system.ts';

const PROJECT = join(import.meta.dirname, '../../..');
const PYTHON = await programTool('python3', ['-c', 'import ensurepip, sys, venv; assert sys.version_info >= (3, 11)']);
const WHEELS = 'missing' in PYTHON ? PYTHON : await wheelsTool('billhook-wheels-1', ['httpx==0.28.1', 'attrs==26.1.0']);
const TOOLS = [PYTHON, WHEELS];

let system: TestSystem;
/** The newcomer's folder, with the virtual environment. */
let folder: string;
let python: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-pypi-'));
  if ('missing' in WHEELS) return;
  await runTool('npm', ['run', 'client:pypi', '--', '--out', folder], { cwd: PROJECT });
  const [wheel = ''] = (await readdir(folder)).filter((name) => name.endsWith('.whl'));
  await runTool('python3', ['-m', 'venv', 'venv'], { cwd: folder });
  python = join(folder, 'venv/bin/python');
  const offline = ['--no-index', '--find-links', WHEELS.folder];
  await runTool(python, ['-m', 'pip', 'install', '--quiet', ...offline, join(folder, wheel)], { cwd: folder });
  system = await startSystem();
}, 600_000);
afterAll(async () => {
  await system?.close();
  await rm(folder, { recursive: true, force: true });
});

testWith(
  TOOLS,
  "when a newcomer runs README's blocks, then an invoice is printed and paid, and its webhook verified",
  async () => {
    const { key } = await system.workspace.account();
    const port = await getPort();
    const replaced = { 'localhost:3999': `127.0.0.1:${port}`, '("localhost", 3999)': `("127.0.0.1", ${port})` };
    await writeFile(join(folder, 'month.py'), programOf(join(PROJECT, 'client/python/README.md'), 'python', replaced));

    const env = { PATH: process.env['PATH'], BILLHOOK_URL: system.gateway.url, BILLHOOK_KEY: key };
    const run = async () => {
      const lines = (await runTool(python, ['month.py'], { cwd: folder, env })).split('\n');
      // The receiver of the standard library logs its requests.
      return lines.filter((line) => line !== '' && !line.includes('POST /hooks'));
    };
    const printed = (number: string) => [
      `${number} 282.63 USD`,
      `paid: ${number}`,
      `${number} Paid`,
      'validation_failed email invalid_email',
      'Validation failed; email must be a valid email (400)',
      '100',
    ];

    expect(await run()).toEqual(printed('INV-0001'));
    // Newcomers try it again.
    expect(await run()).toEqual(printed('INV-0002'));
    expect(String(await readFile(join(folder, 'invoice.pdf'))).slice(0, 5)).toBe('%PDF-');
  },
);

testWith(
  TOOLS,
  'when the package is looked at, then every operation has a method, files are bytes, and lists have iterators',
  async () => {
    const program = `
import inspect, json, billhook
methods = {name: str(inspect.signature(method).return_annotation) for name, method in inspect.getmembers(billhook.Billhook, inspect.isfunction)}
print(json.dumps(methods))`;
    const methods = JSON.parse(await runTool(python, ['-W', 'error', '-c', program], { cwd: folder }));

    const document = (await (await fetch(`${system.gateway.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, Operation>>;
    };
    const snake = (id: string) => id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
      const name = snake(operation.operationId);
      const types = Object.entries(operation.responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([, { content }]) => Object.keys(content ?? {}));
      expect([name, methods[name]]).toEqual([
        name,
        types.includes('application/json') ? expect.stringMatching(/^(?!bytes)\w+$/) : 'bytes',
      ]);
      if (!operation.parameters?.some((parameter) => parameter.name === 'after')) continue;
      const iterator = `iter_${name.replace(/^[^_]+_/, '')}`;
      expect([iterator, methods[iterator]]).toEqual([iterator, expect.stringMatching(/^Iterator\[\w+\]$/)]);
    }
  },
);

interface Operation {
  operationId: string;
  parameters?: { name?: string }[];
  responses: Record<string, { content?: object }>;
}

type Answer = (response: http.ServerResponse) => unknown;
interface Case {
  call: string;
  /** The responses of the server, one after the other. The last one is repeated. */
  answers: Answer[];
}

/** Runs the program once, with a server for each case. @returns what each call printed, and the requests that its server got. */
async function runBeside(...cases: Case[]) {
  const servers = await Promise.all(cases.map(({ answers }) => serverOf(answers)));
  try {
    const calls = cases.map(({ call }, index) => ({ call, url: servers[index]?.url }));
    const printed = await runProgram({ calls, webhooks: [] });
    return printed.calls.map((call, index) => ({ call, calls: servers[index]?.calls ?? [] }));
  } finally {
    for (const { close } of servers) close();
  }
}

async function serverOf(answers: Answer[]) {
  const calls: { method: string | undefined; url: string | undefined; key: unknown }[] = [];
  const server = http.createServer((request, response) => {
    request.resume();
    calls.push({ method: request.method, url: request.url, key: request.headers['idempotency-key'] });
    const answer = answers[calls.length - 1] ?? answers.at(-1);
    answer?.(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls, close };
}

async function runProgram(input: object): Promise<{ calls: unknown[]; verified: string[] }> {
  const child = spawn(python, ['-W', 'error', join(FLOWS, 'billhook_package.py')], { cwd: folder });
  child.stdin.end(JSON.stringify(input));
  const [printed, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  expect(complaints).toBe('');
  return JSON.parse(printed);
}

const ADA = {
  id: '019a1f00-0000-7000-8000-00000000c11e',
  name: 'Ada',
  email: 'ada@example.com',
  status: 'active',
  address: null,
};
const RECORD = { ...ADA, created_at: '2026-11-02T09:30:00.000Z', updated_at: '2026-11-02T09:30:00.000Z' };
const json =
  (status: number, body: object, headers: Record<string, string> = {}) =>
  (response: http.ServerResponse) =>
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
const made = json(201, { success: true, data: RECORD });
const busy = (status: number, pause = '0') =>
  json(status, { error: 'Busy', code: 'busy' }, { 'Retry-After': pause, 'X-Request-Id': 'r-1' });
/** Breaks off before the end of the body. */
const broken = (response: http.ServerResponse) =>
  response.writeHead(201, { 'Content-Length': '100' }).write('{', () => response.destroy());

testWith(
  TOOLS,
  'when a POST gets no whole response, or the gateway is busy, then it is sent again with the key of the call',
  async () => {
    const failures = [broken, busy(503), busy(429), busy(409)];
    const results = await runBeside(...failures.map((failure) => ({ call: 'post', answers: [failure, made] })), {
      call: 'own key',
      answers: [busy(503), made],
    });
    const own = results.pop();
    expect(results).toHaveLength(failures.length);
    for (const { call, calls } of results) {
      expect([call, calls.map(({ method }) => method)]).toEqual(['Ada', ['POST', 'POST']]);
      expect(calls[0]?.key).toMatch(/^[\w-]{36}$/);
      expect(calls[1]?.key).toBe(calls[0]?.key);
    }
    expect(own?.calls.map(({ key }) => key)).toEqual(['mine', 'mine']);
  },
);

testWith(TOOLS, 'when a second call may do harm, or is no use, then the caller gets the error', async () => {
  const details = { name: ['name is required'] };
  const invalid = json(400, { error: 'Validation failed', code: 'validation_failed', details });
  const [lost, unavailable, long, refused, exhausted] = await runBeside(
    { call: 'patch', answers: [broken] },
    { call: 'patch', answers: [busy(503)] },
    { call: 'post', answers: [busy(503, '61')] },
    { call: 'post', answers: [invalid] },
    { call: 'post', answers: [busy(503)] },
  );
  expect([lost?.call, lost?.calls.length]).toEqual(['no response', 1]);
  expect(unavailable?.calls).toHaveLength(1);
  expect(long?.calls).toHaveLength(1);
  expect(refused?.calls).toHaveLength(1);
  expect(refused?.call).toEqual([
    400,
    'validation_failed',
    'Validation failed; name is required (400)',
    details,
    null,
    null,
  ]);

  expect(exhausted?.calls).toHaveLength(3);
  expect(exhausted?.call).toEqual([503, 'busy', 'Busy (503)', null, 'r-1', 0]);
});

testWith(
  TOOLS,
  'when a list is read, then its cursors are followed, and the key never goes to another address',
  async () => {
    const page = (link?: string) =>
      json(
        200,
        { data: [RECORD, RECORD], pagination: { total: 4, limit: 2, offset: 0 } },
        link ? { Link: `<${link}>; rel="next"` } : {},
      );

    const [read] = await runBeside({
      call: 'get',
      answers: [page('https://elsewhere.example/x?limit=2&after=abc'), page()],
    });

    expect(read?.call).toEqual(['Ada', 'Ada', 'Ada', 'Ada']);
    expect(read?.calls.map(({ url }) => url)).toEqual(['/api/v1/clients?limit=2', '/api/v1/clients?limit=2&after=abc']);
  },
);

testWith(
  TOOLS,
  'when webhook calls are verified, then those alone that the secret signed now, byte for byte',
  async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const former = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
    const body = JSON.stringify({ type: 'client.created', data: { name: 'Zoë' } });
    const signed = (by: string[], at = new Date(), text = body) => ({
      'Webhook-Id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': by.map((key) => new Webhook(key).sign('msg_1', at, text)).join(' '),
    });
    const earlier = signed([secret], new Date(Date.now() - 301_000));
    const good = signed([secret]);
    const cases: [expected: string, webhook: { body: string; headers: object; secret: string | string[] }][] = [
      ['client.created', { body, headers: good, secret }],
      ['client.created', { body, headers: signed([former, secret]), secret }],
      ['client.created', { body, headers: signed([former, secret]), secret: former }],
      ['client.created', { body, headers: good, secret: [former, secret] }],
      ['wrong_signature', { body: `${body} `, headers: good, secret }],
      ['wrong_signature', { body, headers: good, secret: former }],
      ['wrong_signature', { body, headers: { ...good, 'Webhook-Id': 'msg_2' }, secret }],
      ['wrong_signature', { body, headers: { ...good, 'webhook-signature': 'v1,é v9,x' }, secret }],
      ['wrong_signature', { body, headers: good, secret: [] }],
      ['outside_tolerance', { body, headers: earlier, secret }],
      ['outside_tolerance', { body, headers: signed([secret], new Date(Date.now() + 900_000)), secret }],
      ['missing_header', { body, headers: {}, secret }],
      ['malformed_header', { body, headers: { ...good, 'webhook-timestamp': '1e9' }, secret }],
      ['malformed_secret', { body, headers: good, secret: 'whsec_§' }],
      ['malformed_secret', { body, headers: good, secret: '' }],
      ['malformed_body', { body: 'ping', headers: signed([secret], new Date(), 'ping'), secret }],
    ];

    const { verified } = await runProgram({ calls: [], webhooks: cases.map(([, webhook]) => webhook) });

    expect(verified).toEqual(cases.map(([expected]) => expected));
  },
);
