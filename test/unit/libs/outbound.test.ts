// The outbound guard, with real sockets; only the resolver is replaced. One test per bypass that once worked somewhere.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import axios from 'axios';
import { type Outbound, openOutbound } from '#libs/outbound/outbound.ts';
import type { Resolve } from '#libs/outbound/resolve-host.ts';
import { OutboundRefused } from '#libs/outbound/target-rules.ts';

const https = { protocols: ['https:'] } as const;
const both = { protocols: ['http:', 'https:'] } as const;

let canary: http.Server;
let port: number;
let hits: string[] = [];

beforeAll(async () => {
  canary = http.createServer((request, response) => {
    hits.push(`${request.headers.host} ${request.url}`);
    if (request.url === '/redirect') response.writeHead(302, { Location: `http://127.0.0.1:${port}/inside` });
    response.end('secret');
  });
  await new Promise<void>((resolve) => canary.listen(0, '::', resolve));
  port = (canary.address() as AddressInfo).port;
});
afterAll(() => {
  canary.closeAllConnections();
  canary.close();
});
beforeEach(() => {
  hits = [];
});

const resolveTo = (...addresses: string[]): Resolve => {
  return () => Promise.resolve(addresses);
};

function reasonOf(work: () => unknown): string {
  try {
    work();
    return 'accepted';
  } catch (error) {
    return error instanceof OutboundRefused ? error.reason : `another error: ${String(error)}`;
  }
}

const check = (url: string, allow = '') => reasonOf(() => openOutbound({ allow }).check(url, https));

/** Through axios, as webhooks are sent; the guard's own check is skipped, to prove that dialling rejects by itself. */
async function dial(outbound: Outbound, url: string) {
  const { httpAgent, httpsAgent } = outbound.check('http://example.com', both);
  const options = { httpAgent, httpsAgent, proxy: false, maxRedirects: 0, timeout: 5_000 } as const;
  try {
    return (await axios.get(url, { ...options, validateStatus: () => true })).status;
  } catch (error) {
    const cause = (error as Error).cause;
    return cause instanceof OutboundRefused ? cause.reason : String(error);
  }
}

test.each([
  'https://example.com/hook',
  'https://example.com:443/hook?x=1#y',
  'https://example.com:80/',
  'https://sub.domain.example.co.uk/',
  'https://xn--bcher-kva.example/',
  'https://8.8.8.8/',
  'https://[2a00::1]/',
  'https://100.63.255.254/',
  'https://172.32.0.1/',
  'https://localhost.example.com/',
  'https://internal.example.com/',
])('when %s is checked, a public target, then it is accepted', (url) => {
  expect(check(url)).toBe('accepted');
});

test.each([
  ['http://example.com/', 'scheme'],
  ['HTTP://example.com/', 'scheme'],
  ['ftp://example.com/', 'scheme'],
  ['file:///etc/passwd', 'scheme'],
  ['gopher://127.0.0.1:6379/_FLUSHALL', 'scheme'],
  ['ws://example.com/', 'scheme'],
  ['javascript:alert(1)', 'scheme'],
  ['data:text/html,x', 'scheme'],
  ['blob:https://example.com/1', 'scheme'],
  ['//example.com/', 'malformed'],
  ['example.com', 'malformed'],
  ['', 'malformed'],
  ['https://', 'malformed'],
  ['https://[example.com]/', 'malformed'],
  ['https://425.510.425.510/', 'malformed'],
  ['https://[fe80::1%25lo]/', 'malformed'],
  ['https://example.com:65536/', 'malformed'],
  ['https://user@example.com/', 'userinfo'],
  ['https://user:password@example.com/', 'userinfo'],
  ['https://example.com@127.0.0.1/', 'userinfo'],
  ['https://example.com:22/', 'port'],
  ['https://example.com:6379/', 'port'],
  ['https://example.com:0/', 'port'],
  ['https://localhost/', 'host'],
  ['https://LOCALHOST./', 'host'],
  ['https://a.localhost/', 'host'],
  ['https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/', 'host'],
  ['https://printer.local/', 'host'],
  ['https://metadata.google.internal/computeMetadata/v1/', 'host'],
  ['https://kubernetes.default.svc/', 'host'],
  ['https://db.default.svc.cluster.local/', 'host'],
  ['https://redis/', 'host'],
  ['https://example.com../', 'host'],
  [`https://${'a.'.repeat(130)}com/`, 'host'],
  [`https://example.com/${'a'.repeat(2_048)}`, 'length'],
  [`https://example.com/${'é'.repeat(400)}`, 'length'], // 420 characters as given, 2,420 as stored
])('when %s is checked, then it is rejected for its %s', (url, reason) => {
  expect(check(url)).toBe(reason);
});

test.each([
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.0x0.0x0.0x1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://0/',
  'https://127.000.000.001/',
  'https://①②⑦.⓪.⓪.①/',
  'https://127。0。0。1/',
  'https://127.0.0.1./',
  'https://%31%32%37.0.0.1/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://0251.0376.0251.0376/',
  'https://169.254.43518/',
  'ht\ntps://127.0.0.1/',
  ' https://127.0.0.1/ ',
  'https:127.0.0.1',
  'https:///127.0.0.1/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::fFFf:7f00:1]/',
  'https://[0:0:0:0:0:ffff:169.254.169.254]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:0:127.0.0.1]/',
  'https://[64:ff9b::a9fe:a9fe]/',
  'https://[64:ff9b:1::a9fe:a9fe]/',
  'https://[2002:a9fe:a9fe::1]/',
  'https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
  'https://[fec0::1]/',
  'https://168.63.129.16/',
  'https://100.100.100.200/',
])('when %p is checked, a spelling of an internal address, then it is rejected for its address', (url) => {
  expect(check(url)).toBe('address');
});

test('when a URL confuses parsers with a backslash, then the host that is judged is the host that is returned', () => {
  const target = openOutbound({ allow: '' }).check('https://example.com\\@127.0.0.1/', https);
  expect(target.url.href).toBe('https://example.com/@127.0.0.1/');
});

test('when a name ends in a dot, then it is the name without it, for certificates and lists alike', () => {
  expect(openOutbound({ allow: '' }).check('https://example.com./x', https).url.href).toBe('https://example.com/x');
});

test('when the operator allows loopback, then plain http, any port and private names may be used there, and nowhere else', async () => {
  const local = openOutbound({ allow: '127.0.0.0/8', resolve: resolveTo('127.0.0.1') });
  for (const url of ['http://127.0.0.1:9000/', 'http://localhost:9000/', 'https://receiver:8443/'])
    await expect(local.vet(url, https)).resolves.toBeDefined();
  const elsewhere = openOutbound({ allow: '127.0.0.0/8', resolve: resolveTo('93.184.216.34') });
  for (const [url, reason] of [
    ['http://8.8.8.8/', 'scheme'],
    ['http://10.0.0.1/', 'address'],
    ['http://example.com/', 'scheme'],
    ['https://example.com:9000/', 'port'],
    ['https://receiver/', 'host'],
  ] as const)
    await expect(elsewhere.vet(url, https)).rejects.toMatchObject({ reason });
});

test('when a name resolves to a private address, then vetting and dialling both reject it', async () => {
  const outbound = openOutbound({ allow: '', resolve: resolveTo('10.0.0.5') });
  await expect(outbound.vet('https://10.0.0.5.nip.io/', https)).rejects.toMatchObject({ reason: 'address' });
  expect(await dial(outbound, 'http://10.0.0.5.nip.io/')).toBe('address');
  expect(await dial(outbound, 'https://10.0.0.5.nip.io/')).toBe('address');
});

test.each([[['93.184.216.34', '10.0.0.5']], [['93.184.216.34', '::1']], [['2a00::1', '::ffff:127.0.0.1']]])(
  'when a name resolves to %p, public and private mixed, then it is rejected',
  async (addresses) => {
    const outbound = openOutbound({ allow: '', resolve: resolveTo(...addresses) });
    expect(await dial(outbound, 'http://mixed.example/')).toBe('address');
  },
);

test('when a name has an allowed and a private address, as localhost often has, then only the allowed one is dialled', async () => {
  const outbound = openOutbound({ allow: '127.0.0.0/8', resolve: resolveTo('::1', '10.0.0.5', '127.0.0.1') });
  expect(await dial(outbound, `http://localhost:${port}/x`)).toBe(200);
  expect(hits).toEqual([`localhost:${port} /x`]);
});

test.each([
  ['fails', () => Promise.reject(new Error('SERVFAIL'))],
  ['has no address', resolveTo()],
])('when the resolver %s, then the name is rejected: without addresses nothing is allowed', async (_case, resolve) => {
  const outbound = openOutbound({ allow: '', resolve });
  await expect(outbound.vet('https://example.com/', https)).rejects.toMatchObject({ reason: 'dns' });
  expect(await dial(outbound, 'http://example.com/')).toBe('dns');
});

test('when a name rebinds between the check and the call, then the call checks it again and nothing is reached', async () => {
  const sequence = ['93.184.216.34', '127.0.0.1'];
  const outbound = openOutbound({ allow: '', resolve: () => Promise.resolve([sequence.shift() ?? '127.0.0.1']) });
  await outbound.vet('https://rebind.example/', https);
  expect(await dial(outbound, 'http://rebind.example/')).toBe('address');
});

test('when a call is made, then the name is resolved exactly once and the judged address is dialled', async () => {
  let lookups = 0;
  const outbound = openOutbound({
    allow: '127.0.0.0/8',
    resolve: () => {
      lookups += 1;
      return Promise.resolve([lookups === 1 ? '127.0.0.1' : '10.0.0.5']);
    },
  });
  expect(await dial(outbound, `http://once.example:${port}/x`)).toBe(200);
  expect(lookups).toBe(1);
  expect(hits).toEqual([`once.example:${port} /x`]);
});

test.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1'])(
  'when %s is dialled without any check before it, then the agent rejects it: Node calls no lookup for literals',
  async (host) => {
    expect(await dial(openOutbound({ allow: '' }), `http://${host}:${port}/`)).toMatch(/^(address|port)$/);
    expect(hits).toEqual([]);
  },
);

test('when localhost or an odd port is dialled without any check before it, then the agent rejects it', async () => {
  const outbound = openOutbound({ allow: '10.0.0.0/8' });
  expect(await dial(outbound, `http://localhost:${port}/`)).toMatch(/^(host|address)$/);
  expect(await dial(openOutbound({ allow: '', resolve: resolveTo('93.184.216.34') }), 'http://example.com:6379/')).toBe(
    'port',
  );
  expect(hits).toEqual([]);
});

test('when a receiver redirects, then the redirect is the response and its target is not called', async () => {
  expect(await dial(openOutbound({ allow: '127.0.0.0/8' }), `http://127.0.0.1:${port}/redirect`)).toBe(302);
  expect(hits).toEqual([`127.0.0.1:${port} /redirect`]);
});

test('when only https is accepted, then the agent for plain http serves allowed addresses and no public name', async () => {
  const outbound = openOutbound({ allow: '127.0.0.0/8', resolve: resolveTo('93.184.216.34') });
  const { httpAgent } = outbound.check('https://example.com/', https);
  const call = axios.get('http://example.com/', { httpAgent, proxy: false, timeout: 5_000 });
  await expect(call).rejects.toMatchObject({ cause: { reason: 'scheme' } });
  const local = await axios.get(`http://127.0.0.1:${port}/`, { httpAgent, proxy: false });
  expect(local.data).toBe('secret');
});

test('when connections are kept, then one is not reused for another name', async () => {
  const outbound = openOutbound({ allow: '127.0.0.0/8', resolve: resolveTo('127.0.0.1'), keepAlive: true });
  expect(await dial(outbound, `http://a.example:${port}/`)).toBe(200);
  const sockets = () => Object.keys(outbound.check('http://example.com', both).httpAgent.freeSockets);
  expect(sockets()).toHaveLength(1);
  expect(await dial(outbound, `http://b.example:${port}/`)).toBe(200);
  expect(sockets()).toHaveLength(2);
  outbound.close();
});
