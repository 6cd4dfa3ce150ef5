// Malformed and unusual requests, byte for byte. `%KEY%` stands for a valid key.

/** The expected outcome: `refused` is a 4xx or a closed connection, `served` a success, `not found` a 4xx, `any` no 5xx. */
type Outcome = 'refused' | 'served' | 'any' | 'not found';

export interface RawCase {
  what: string;
  bytes: string;
  outcome: Outcome;
}

const AUTH = 'Authorization: Bearer %KEY%';
const PATH = '/api/v1/clients';
const BODY = '{"name":"raw","email":"raw@example.com"}';
/** A request inside the body of another one, which the service must never see. */
const HIDDEN = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';

const get = (headers: string[] = [], target = `${PATH}?limit=1`, version = 'HTTP/1.1') =>
  [`GET ${target} ${version}`, 'Host: x', AUTH, ...headers, '', ''].join('\r\n');
const post = (headers: string[], body: string) =>
  [`POST ${PATH} HTTP/1.1`, 'Host: x', AUTH, 'Content-Type: application/json', ...headers, '', body].join('\r\n');
const refused = (what: string, bytes: string): RawCase => ({ what, bytes, outcome: 'refused' });
const any = (what: string, bytes: string): RawCase => ({ what, bytes, outcome: 'any' });

const chunked = 'Transfer-Encoding: chunked';
const chunk = (text: string, extension = '') => `${text.length.toString(16)}${extension}\r\n${text}\r\n0\r\n\r\n`;

const lengths = [
  '-1',
  '+40',
  '0x28',
  '4e1',
  '40.0',
  ' ',
  'x',
  '40, 40',
  '40,41',
  '40;',
  '1 0',
  '9'.repeat(25),
  '0040x',
  '٤٠',
  '"40"',
  '\u00a040',
];
const encodings = [
  'chunked, chunked',
  'chunked, identity',
  'gzip',
  'xchunked',
  'chunkedx',
  '"chunked"',
  'x',
  'chunked;q=1',
  'CHUNKED, x',
  '\u000bchunked',
  'chunked\u0000',
  'deflate',
  'cow',
];
const smuggling: RawCase[] = [
  refused('a length and chunks', post(['Content-Length: 5', chunked], `0\r\n\r\n${HIDDEN}`)),
  refused('chunks and a length', post([chunked, 'Content-Length: 5'], `0\r\n\r\n${HIDDEN}`)),
  refused('two lengths', post(['Content-Length: 40', 'Content-Length: 0'], BODY)),
  refused('two lengths, the same', post(['Content-Length: 40', 'Content-Length: 40'], BODY)),
  refused('two lengths, the shorter first', post(['Content-Length: 0', 'Content-Length: 40'], HIDDEN)),
  refused('a length that is folded', post(['Content-Length:', ' 40'], BODY)),
  refused('chunks that are folded', post(['Transfer-Encoding:', ' chunked'], `0\r\n\r\n${HIDDEN}`)),
  refused(
    'a blank before the colon of chunks',
    post(['Transfer-Encoding : chunked', 'Content-Length: 5'], `0\r\n\r\n${HIDDEN}`),
  ),
  refused('a blank before the colon of a length', post(['Content-Length : 40'], BODY)),
  refused('a blank before a name', post([' Content-Length: 40'], BODY)),
  refused('a name with a tab', post(['Content\t-Length: 40'], BODY)),
  refused('a name with a NUL', post(['Content-Length\u0000: 40'], BODY)),
  refused('an empty name', post([': 40'], BODY)),
  refused('a header without a colon', get(['NoColon'])),
  refused('a bare CR in a header', get(['X: a\rY: b'])),
  refused('a bare LF in a header', get(['X: a\nTransfer-Encoding: chunked'])),
  refused('a NUL in a value', get(['X: a\u0000b'])),
  refused('lines that end in LF alone', get().replaceAll('\r\n', '\n')),
  refused('lines that end in CR alone', get().replaceAll('\r\n', '\r')),
  ...lengths.map((value) =>
    refused(`a length of ${JSON.stringify(value).slice(0, 30)}`, post([`Content-Length: ${value}`], BODY)),
  ),
  ...encodings.map((value) =>
    refused(`chunks called ${JSON.stringify(value)}`, post([`Transfer-Encoding: ${value}`], `0\r\n\r\n${HIDDEN}`)),
  ),
  // Chunked is the last encoding, so all servers find the same end of the body: what follows is another request.
  ...['identity, chunked', 'gzip, chunked'].map((value) =>
    any(`chunks called "${value}"`, post([`Transfer-Encoding: ${value}`], '0\r\n\r\n')),
  ),
  refused('chunks called twice, once wrongly', post([chunked, 'Transfer-Encoding: x'], `0\r\n\r\n${HIDDEN}`)),
  refused('a length and chunks of another name', post(['Content-Length: 40', 'Transfer-Encoding: xchunked'], BODY)),
];

const chunkLines = [
  '-1',
  '+5',
  '0x5',
  'g',
  ' 5',
  '5 ',
  '',
  '5;',
  `5;${'x'.repeat(20_000)}`,
  'fffffffffffffffff',
  '1'.repeat(40),
  '5\t',
  '5\u0000',
  '٥',
  '5,5',
];
const chunks: RawCase[] = [
  ...chunkLines.map(
    (size): RawCase =>
      any(`a chunk of ${JSON.stringify(size).slice(0, 30)}`, post([chunked], `${size}\r\nhello\r\n0\r\n\r\n`)),
  ),
  { what: 'a body in one chunk', bytes: post([chunked], chunk(BODY)), outcome: 'served' },
  {
    what: 'a body in chunks of one byte',
    bytes: post([chunked], `${[...BODY].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`),
    outcome: 'served',
  },
  refused('a chunk with an extension of a megabyte', post([chunked], chunk(BODY, `;${'x'.repeat(1_000_000)}`))),
  refused(
    'thousands of chunk extensions',
    post([chunked], `${Array.from({ length: 40 }, () => `1;${'e'.repeat(1_000)}\r\n \r\n`).join('')}0\r\n\r\n`),
  ),
  refused('a chunk that is longer than it says', post([chunked], `2\r\n${BODY}\r\n0\r\n\r\n`)),
  refused('a chunk without an end of line', post([chunked], `28\r\n${BODY}0\r\n\r\n`)),
  refused('a chunk that ends in LF', post([chunked], `28\n${BODY}\n0\n\n`)),
  refused('an endless size', post([chunked], '0'.repeat(100_000))),
  any(
    'trailers that would be headers',
    post([chunked], `28\r\n${BODY}\r\n0\r\nAuthorization: Bearer x\r\nContent-Length: 5\r\n\r\n`),
  ),
  any('trailers of 64 KB', post([chunked], `28\r\n${BODY}\r\n0\r\nX: ${'x'.repeat(65_536)}\r\n\r\n`)),
];

const startLines = [
  'GET',
  'GET /',
  'GET  /api HTTP/1.1',
  ' GET / HTTP/1.1',
  'GET / HTTP/1.1 x',
  'GET / HTTP/2.0',
  'GET / HTTP/1.2',
  'GET / HTTP/9.9',
  'GET / HTTP/11',
  'GET / http/1.1',
  'GET / HTTP',
  'GET / HTTPS/1.1',
  'GET\t/\tHTTP/1.1',
  'get / HTTP/1.1',
  'G\u0000T / HTTP/1.1',
  'GÉT / HTTP/1.1',
  '{} / HTTP/1.1',
  'GET\u0000/ HTTP/1.1',
  'PRI * HTTP/2.0',
  'HELLO',
  'FOO / HTTP/1.1',
  '',
  '\u0000',
  'GET /\u0000 HTTP/1.1',
  'GET /a b HTTP/1.1',
  'SSH-2.0-x',
  '\u0016\u0003\u0001\u0002',
  '*1\r\n$4\r\nPING',
  'EHLO x',
];
const lines: RawCase[] = startLines.map((line) =>
  refused(`a first line ${JSON.stringify(line)}`, `${line}\r\nHost: x\r\nConnection: close\r\n\r\n`),
);

const heads: RawCase[] = [
  refused('headers of 64 KB', get([`X-Long: ${'x'.repeat(65_536)}`])),
  refused(
    'a thousand headers of 16 bytes',
    get(Array.from({ length: 1_000 }, (_, index) => `X-${index}: ${'x'.repeat(10)}`)),
  ),
  refused('a path of 64 KB', get([], `/${'a'.repeat(65_536)}`)),
  refused('a query of 64 KB', get([], `${PATH}?${'a=1&'.repeat(16_384)}`)),
  { what: 'ninety headers', bytes: get(Array.from({ length: 90 }, (_, index) => `X-${index}: x`)), outcome: 'served' },
  {
    what: 'a hundred and fifty short headers',
    bytes: get(Array.from({ length: 150 }, (_, index) => `X${index}: x`)),
    outcome: 'any',
  },
  refused('no host', `GET ${PATH} HTTP/1.1\r\n${AUTH}\r\n\r\n`),
  refused('two hosts', get(['Host: y'])),
  any('an invalid host', get().replace('Host: x', 'Host: <script>')),
  refused('two keys', get(['Authorization: Bearer x'])),
  refused('an unknown expectation', get(['Expect: the-unexpected'])),
  any(
    'an upgrade to HTTP/2',
    get(['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA']),
  ),
  any(
    'an upgrade to a web socket',
    get([
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ]),
  ),
  refused('CONNECT', `CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n${AUTH}\r\n\r\n`),
  refused('TRACE', `TRACE ${PATH} HTTP/1.1\r\nHost: x\r\n${AUTH}\r\n\r\n`),
  { what: 'HTTP/1.0', bytes: get([], `${PATH}?limit=1`, 'HTTP/1.0'), outcome: 'served' },
  refused('HTTP/0.9', 'GET /api/v1/clients\r\n'),
];

const methods = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', '_method'];
const overrides: RawCase[] = [
  ...methods.flatMap((name) =>
    ['DELETE', 'PATCH', 'PUT'].map(
      (method): RawCase => ({ what: `${name}: ${method}`, bytes: get([`${name}: ${method}`]), outcome: 'served' }),
    ),
  ),
  refused('_method in the query', get([], `${PATH}?_method=DELETE&limit=0`)),
  ...['X-Original-URL', 'X-Rewrite-URL', 'X-Forwarded-Path', 'X-Forwarded-Prefix'].map(
    (name): RawCase => ({ what: name, bytes: get([`${name}: /smuggled`]), outcome: 'served' }),
  ),
  ...[
    'X-Forwarded-For: 127.0.0.1',
    'X-Forwarded-Host: evil',
    'Forwarded: for=127.0.0.1;host=evil',
    'X-Real-IP: 127.0.0.1',
  ].map((header): RawCase => ({ what: header, bytes: get([header]), outcome: 'served' })),
];

const targets = [
  '/api/v1//clients',
  '//api/v1/clients',
  '/api/v1/clients//',
  '/api/v1/./clients',
  '/api/v1/x/../clients',
  '/../api/v1/clients',
  '/api/v1/clients/..',
  '/api/v1/clients/%2e%2e',
  '/api/v1/clients/..%2finvoices',
  '/api/v1%2fclients',
  '/api%2fv1%2fclients',
  '/api/v1/clients%00',
  '/api/v1/%00',
  '/api/v1/clients%0d%0aX: y',
  '/api/v1/clients%20',
  '/api/v1/clients;a=b',
  '/API/V1/CLIENTS',
  '/api/v1/Clients',
  '/api/v1/clients.json',
  '/api/v1/clients%',
  '/api/v1/clients/%zz',
  '/api/v1/clients/%ff',
  '/api/v1/clients/%c0%ae',
  '/api/v1/clients/%u0041',
  '/.git/config',
  '/.env',
  '/api/v1/__proto__',
  '/api/v1/constructor',
  '/api/v1/clients/constructor',
  '/api/v1/clients/%5c..%5c',
  '/api/v1/clients\\..\\x',
  '/etc/passwd',
  '/metrics',
  '/livez',
  '/readyz',
  '/docs/../metrics',
  '/docs/%2e%2e/metrics',
  '/server-status',
];
const paths: RawCase[] = [
  ...targets.map((target): RawCase => ({ what: `GET ${target}`, bytes: get([], target), outcome: 'not found' })),
  any('an absolute target', get([], `http://evil.example${PATH}?limit=1`)),
  any('a target of another scheme', get([], `ftp://x${PATH}`)),
  refused('an asterisk as the target', get([], '*')),
  refused('a target without a slash', get([], 'api/v1/clients')),
  any('a fragment', get([], `${PATH}#x`)),
];

const gzip = Buffer.from('H4sIAAAAAAAAA6uuBQBDv6ajAgAAAA==', 'base64').toString('latin1');
const bodies: RawCase[] = [
  ...['gzip', 'deflate', 'br', 'zstd', 'compress', 'x-gzip', 'gzip, gzip', 'identity, gzip', 'x'].map((encoding) =>
    refused(`a body in ${encoding}`, post([`Content-Encoding: ${encoding}`, `Content-Length: ${gzip.length}`], gzip)),
  ),
  ...[
    'text/plain',
    'text/html',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonx',
    'application/problem+json',
    'json',
    '',
    '*/*',
    'application/json; charset=utf-7',
    'application/json; charset=utf-16le',
    'application/json; charset="utf-32"',
    'application/json;charset=UTF-8x',
    'application/json; charset=latin1',
  ].map((type) =>
    refused(
      `a body of ${type || 'no type'}`,
      post([`Content-Length: ${BODY.length}`], BODY).replace('application/json', type),
    ),
  ),
  ...[
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'APPLICATION/JSON; charset=utf-8; x=y',
  ].map(
    (type): RawCase => ({
      what: `a body of ${type}`,
      bytes: post([`Content-Length: ${BODY.length}`], BODY).replace('application/json', type),
      outcome: 'served',
    }),
  ),
  refused('an announced body of 10 MB', post(['Content-Length: 10000000'], '')),
  any(
    'a body that is announced with 100-continue and never sent',
    post(['Content-Length: 40', 'Expect: 100-continue'], ''),
  ),
  any('a body that is shorter than it says', post(['Content-Length: 4000'], BODY)),
  { what: 'a body on a GET', bytes: get(['Content-Length: 40']) + BODY, outcome: 'served' },
];

export const rawCases: readonly RawCase[] = [
  ...smuggling,
  ...chunks,
  ...lines,
  ...heads,
  ...overrides,
  ...paths,
  ...bodies,
];
