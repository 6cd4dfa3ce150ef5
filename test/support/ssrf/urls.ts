// Every known way to write an address that leads a server to what only it can reach, numbered as in the written plan of this test.
// `{c}` stands for the canary's port, `{at}` for its address with a path of the entry's own, `{file}` for a forbidden file.

/** An address for logoUrl, bannerUrl and the endpoints of webhooks. */
export interface HostileUrl {
  entry: number;
  url: string;
  /** A public address: the guard must let it through, or it guards nothing but itself. */
  isPublic?: boolean;
  /** A drawing that names something else: it is drawn without that, see test/sweeps/hostile/documents-images.test.ts. */
  isDrawing?: boolean;
}

const range = (from: number, texts: string[]): HostileUrl[] =>
  texts.map((url, index) => ({ entry: from + index, url: /^[a-z]+:/i.test(url) ? url : `http://${url}` }));
const all = (entry: number, urls: string[], prefix = ''): HostileUrl[] =>
  urls.map((url) => ({ entry, url: prefix + url }));
const base64 = (text: string) => Buffer.from(text).toString('base64');
const svg = (inside: string) =>
  `data:image/svg+xml;base64,${base64(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9">${inside}</svg>`)}`;

const spellingsOfIpv4 = range(1, [
  '127.0.0.1:{c}/',
  '127.1/',
  '127.0.1/',
  '2130706433/',
  '0x7f000001/',
  '0x7f.0x0.0x0.0x1/',
  '0177.0.0.1/',
  '017700000001/',
  '0/',
  '0.0.0.0:{c}/',
  '127.000.000.001/',
  '127.255.255.254/',
  '①②⑦.⓪.⓪.①/',
  '127。0。0。1/',
  '127.0.0.1./',
  '%31%32%37.0.0.1/',
  '169.254.169.254/latest/meta-data/iam/security-credentials/',
  '2852039166/',
  '0xa9fea9fe/',
  '0251.0376.0251.0376/',
  '169.254.43518/',
  '425.510.425.510/',
  '0x7f.1/',
  '012.1.2.3/',
  '01200034567/',
]);

const specialIpv4 = range(26, [
  '10.0.0.5:{c}/',
  '172.16.0.1/',
  '172.31.255.254/',
  '192.168.0.1/',
  '100.64.0.1/',
  '100.127.255.254/',
  '198.18.0.1/',
  '192.0.0.192/',
  '168.63.129.16/',
  '100.100.100.200/',
  '169.254.170.2/v2/credentials',
  '169.254.170.23/',
  '224.0.0.1/',
  '240.0.0.1/',
  '255.255.255.255/',
  '192.88.99.1/',
]);

export const PUBLIC_ADDRESSES = ['100.63.255.254', '100.128.0.1', '172.32.0.1', '11.0.0.1', '192.88.100.1'];
const neighboursOfSpecial = range(42, PUBLIC_ADDRESSES).map((item) => ({ ...item, isPublic: true }));

const ipv6 = range(47, [
  '[::1]:{c}/',
  '[::]:{c}/',
  '[::ffff:127.0.0.1]/',
  '[::ffff:7f00:1]/',
  '[::fFFf:127.0.0.1]/',
  '[0:0:0:0:0:ffff:169.254.169.254]/',
  '[::127.0.0.1]/',
  '[::ffff:0:127.0.0.1]/',
  '[64:ff9b::a9fe:a9fe]/',
  '[64:ff9b:1::a9fe:a9fe]/',
  '[2002:a9fe:a9fe::1]/',
  '[2002:7f00:1::]/',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
  '[fe80::1%25lo]/',
  '[fec0::1]/',
  '[fc00::1]/',
  '[fd00:ec2::254]/latest/',
  '[ff02::1]/',
  '[100::1]/',
  '[5f00::1]/',
  '[::5efe:7f00:1]/',
  '[2001:db8::1]/',
  '[febf::1]/',
]);

const names: HostileUrl[] = [
  ...range(70, [
    'localhost:{c}/',
    'LOCALHOST./',
    'a.localhost/',
    'metadata.google.internal/computeMetadata/v1/',
    'kubernetes.default.svc/',
    'redis:6390/',
  ]),
  ...all(76, ['127.0.0.1.nip.io/', '7f000001.nip.io/', '169-254-169-254.nip.io/', '10.0.0.5.nip.io/'], 'http://'),
  ...range(77, [
    'localtest.me/',
    'example.com@127.0.0.1:{c}/',
    '127.0.0.1:{c}#@example.com/',
    'example.com\\@127.0.0.1/',
    '127.0.0.1:{c}\\.example.com/',
  ]),
  ...all(82, [
    'http:///127.0.0.1:{c}/',
    'http:127.0.0.1:{c}',
    'http:/127.0.0.1:{c}/',
    'http:\\\\127.0.0.1:{c}\\',
    'http:////127.0.0.1/',
  ]),
  ...all(83, ['//127.0.0.1:{c}/', '\\\\127.0.0.1:{c}\\', '/\\127.0.0.1:{c}/', '/etc/passwd', '127.0.0.1:{c}']),
  ...all(84, [
    ' http://127.0.0.1:{c}/',
    'ht\ntp://127.0.0.1:{c}/',
    'http://127.0\t.0.1:{c}/',
    '\u0000http://127.0.0.1:{c}/',
    'http://127.0.0.1:{c}/\u00a0',
  ]),
  ...all(85, ['HTTP://127.0.0.1:{c}/', 'hTTps://127.0.0.1/', 'hTtP://169.254.169.254/']),
  ...all(86, ['http://[example.com]/', 'http://[127.0.0.1]/', 'http://[::1/', 'http://::1:{c}/']),
  ...all(87, [
    'http://xn--localhost-3ya/',
    'http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/',
    'http://ｌｏｃａｌｈｏｓｔ/',
    'http://l\u00adocalhost/',
    'http://１２７.０.０.１/',
  ]),
  ...all(88, [':22', ':25', ':6379', ':27017', ':0', ':65536', ':080', ':8080', ':-80'], 'http://127.0.0.1'),
  ...all(88, [':22', ':25', ':6379', ':27017', ':0', ':65536'], 'http://public.hostile.example'),
  ...all(89, [
    'http://127.0.0.1:{c}/%0d%0aX:1',
    'http://public.hostile.example/%0d%0aHost:%20127.0.0.1',
    'http://127.0.0.1:{c}/\r\nX-Injected: 1',
  ]),
  { entry: 90, url: `http://${'a'.repeat(61)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}/` },
  { entry: 90, url: `http://${'a'.repeat(64)}.hostile.example/` },
];

/** URLs by names that names.ts answers. */
const dns: HostileUrl[] = [
  ...all(91, ['rebind', 'rebind-fast'], '').map(({ entry, url }) => ({ entry, url: `http://${url}.hostile.example/` })),
  ...[
    [92, 'mixed'],
    [92, 'mixed-reversed'],
    [93, 'public-and-inner-six'],
    [93, 'inner-six'],
    [93, 'mapped-six'],
    [94, 'alias-of-localhost'],
    [94, 'alias-of-metadata'],
    [95, 'alias-of-aliases'],
    [96, 'fails-first'],
    [97, 'silent'],
    [97, 'refused'],
    [97, 'no-such'],
    [99, 'later'],
  ].map(([entry, name]) => ({ entry: Number(entry), url: `http://${name}.hostile.example/` })),
  { entry: 98, url: 'http://7f000001.08080808.rbndr.us/' },
  { entry: 98, url: 'http://a9fea9fe.5db8d822.rbndr.us/' },
];

const redirects: HostileUrl[] = [
  [100, '302?to=http://127.0.0.1:{c}/'],
  [100, '302?to=http://127.0.0.1/'],
  [100, '303?to=http://169.254.169.254/latest/'],
  [100, '302?to=http://[::1]/'],
  [100, '302?to=http://2130706433/'],
  [100, '302?to=http://127.0.0.1.nip.io/'],
  [101, '307?to=http://169.254.169.254/latest/'],
  [101, '308?to=http://169.254.169.254/latest/'],
  [101, '307?to=https://169.254.169.254/latest/'],
  [102, '301?to=http://10.0.0.5/'],
  [103, 'chain/3?to=http://127.0.0.1/'],
  [103, 'chain/2?to=http://127.0.0.1/'],
  [103, 'chain/1?to=http://10.0.0.5/'],
  [104, 'loop'],
  [105, '302?to=//127.0.0.1:{c}'],
  [105, '302?to=//127.0.0.1'],
  [105, '302?to=\\\\127.0.0.1'],
  [106, '302?to=file:///etc/passwd'],
  [106, '302?to=file://{file}'],
  [106, '302?to=gopher://127.0.0.1:6379/_FLUSHALL'],
  [107, 'refresh?to=http://127.0.0.1/'],
  [108, 'meta-refresh?to=http://127.0.0.1/'],
  [108, 'svg?to=http://127.0.0.1/'],
].map(([entry, path]) => ({ entry: Number(entry), url: `http://public.hostile.example/${path}` }));

const schemes: HostileUrl[] = [
  ...all(109, ['file:///etc/passwd', 'file://{file}', 'FILE:///etc/passwd', 'file:/etc/passwd']),
  ...all(110, ['file://localhost/proc/self/environ', 'file:///proc/self/environ', 'file://127.0.0.1/etc/passwd']),
  ...all(111, ['ftp://127.0.0.1/', 'ftp://127.0.0.1:{c}/x', 'sftp://127.0.0.1/', 'tftp://127.0.0.1:{c}/x']),
  ...all(112, ['gopher://127.0.0.1:6390/_FLUSHALL', 'gopher://127.0.0.1:6379/_*1%0d%0a$8%0d%0aFLUSHALL%0d%0a']),
  ...all(113, [
    'dict://127.0.0.1:6390/',
    'ldap://127.0.0.1:{c}/',
    'jar:http://127.0.0.1:{c}!/',
    'netdoc:///etc/passwd',
    'php://filter/resource=/etc/passwd',
  ]),
  ...all(114, ['ws://127.0.0.1:{c}/', 'wss://127.0.0.1/', 'data:text/html,<script>fetch("{at}")</script>']),
  ...all(115, [
    `data:text/html;base64,${base64('<script>fetch("http://127.0.0.1/")</script><img src=http://127.0.0.1/>')}`,
    'data:text/html,<img src=http://127.0.0.1:{c}/>',
    'data:image/png,x',
    ' data:image/png;base64,AAAA',
    'data:,',
    'DATA:image/png;base64,!!!!',
  ]),
  { entry: 116, url: svg('<image href="http://127.0.0.1/s116" width="9" height="9"/>'), isDrawing: true },
  ...[
    '<use href="http://127.0.0.1/s117#x"/>',
    '<style>@import url(http://127.0.0.1/s117);*{fill:url(http://127.0.0.1/f#x)}</style><rect width="9" height="9"/>',
    '<foreignObject width="9" height="9"><iframe xmlns="http://www.w3.org/1999/xhtml" src="file:///etc/passwd"/></foreignObject>',
    '<script>fetch("http://127.0.0.1/s117")</script>',
    '<script href="http://127.0.0.1/s117.js"/>',
    '<image xlink:href="http://127.0.0.1/s117" width="9" height="9"/>',
    '<filter id="a"><feImage href="http://127.0.0.1/s117"/></filter><rect filter="url(#a)" width="9" height="9"/>',
    '<image xlink:href="file:///etc/passwd" width="9" height="9"/>',
  ].map((inside) => ({ entry: 117, url: svg(inside), isDrawing: true })),
  {
    entry: 117,
    url: `data:image/svg+xml;base64,${base64('<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg"><text>&x;</text></svg>')}`,
  },
  {
    entry: 117,
    url: `data:image/svg+xml;base64,${base64('<?xml-stylesheet href="http://127.0.0.1/s117.css"?><svg xmlns="http://www.w3.org/2000/svg"/>')}`,
  },
  {
    entry: 118,
    url: `data:image/png;base64,${base64('<html><img src=http://127.0.0.1/s118><script>fetch("http://127.0.0.1/")</script></html>')}`,
  },
  ...all(119, [
    'blob:http://127.0.0.1/1',
    'blob:null/1',
    'filesystem:http://127.0.0.1/temporary/x',
    'chrome://version',
    'view-source:http://127.0.0.1:{c}/',
    'view-source:file:///etc/passwd',
    'javascript:alert(1)',
    'about:blank',
    'about:srcdoc',
    'chrome-extension://abcdefghijklmnop/x',
    'devtools://devtools/bundled/inspector.html',
    'chrome-untrusted://x',
    'intent://127.0.0.1/#Intent;end',
    'mailto:a@127.0.0.1',
    '',
    ' ',
  ]),
  {
    entry: 120,
    url: `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n<html><img src=http://127.0.0.1/s120></html>', 'latin1').toString('base64')}`,
  },
  {
    entry: 120,
    url: `data:image/gif;base64,${base64('GIF89a=1;/*<img src=http://127.0.0.1/s120>*/fetch("http://127.0.0.1/")')}`,
  },
];

export const hostileUrls: HostileUrl[] = [
  ...spellingsOfIpv4,
  ...specialIpv4,
  ...neighboursOfSpecial,
  ...ipv6,
  ...names,
  ...dns,
  ...redirects,
  ...schemes,
];
