// Texts made to break out of the document: they are printed literally, and reach nothing.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PdfDocument } from '#libs/jobs/pdf-document.ts';
import { openTestBrowser } from '../../support/renderer/browser.ts';
import { anInvoice, aQuote } from '../../support/renderer/documents.ts';
import { readPdf } from '../../support/renderer/read-pdf.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';

let renderer: TestRenderer;
/** A server that no document may ever call. */
let canary: Server;
let calls = 0;
let at: string;

beforeAll(async () => {
  canary = createServer((_request, response) => {
    calls += 1;
    response.end();
  }).on('connection', () => (calls += 1));
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  at = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
  renderer = await startRenderer();
});
afterAll(async () => {
  await renderer.close();
  canary.close();
});

const markup = () => [
  `<img src=${at}/a srcset="${at}/b 2x">`,
  '<iframe src=file:///etc/passwd></iframe>',
  `<iframe srcdoc="<img src=${at}>"></iframe>`,
  `<object data=${at}></object><embed src=${at}>`,
  `<link rel=stylesheet href=${at}/c.css><link rel=prefetch href=${at}><link rel=dns-prefetch href=//canary.example>`,
  `<meta http-equiv=refresh content="0;url=${at}">`,
  `<base href=${at}>`,
  `<style>@import "${at}/d.css"; *{background:url(${at}/e)}</style>`,
  `<div style="background:url(${at}/f)">x</div>`,
  `<script>fetch('${at}')</script>`,
  `<svg onload="fetch('${at}')"><image href="${at}/g"/><use href="${at}/h#i"/></svg>`,
  `<video poster=${at}><source src=${at}></video>`,
  `<form action=${at}><input type=image src=${at}></form>`,
  `<math><mtext><table><mglyph><style><img src=${at}>`,
  `</style></title></body><img src=${at}>`,
  '<!-- comment --><![CDATA[x]]>',
  "<%= process.env.REDIS_URL %><%- include('/etc/passwd') %>",
];

test('when texts hold markup, then it is printed letter by letter in every field', async () => {
  const fields: (keyof PdfDocument)[] = [
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
  ];
  // Each text names its field: otherwise a missing one would not be noticed among the others.
  const hostile = (field: string) => [`<i>${field}</i>`, ...markup()].join(' ');
  const textsOf = (names: readonly string[]) => Object.fromEntries(names.map((field) => [field, hostile(field)]));
  const document = aQuote({
    ...textsOf(fields),
    currencySymbol: '<b>$</b>',
    lineItems: [{ id: '1', ...textsOf(['description']), qty: 1, rate: 200 }],
  });
  const pdf = await renderer.read(document);

  const printed = pdf.text.replaceAll(' ', '');
  for (const field of [...fields, 'description']) expect(printed).toContain(`<i>${field}</i>`);
  for (const text of markup()) expect(printed).toContain(text.replaceAll(/\s+/g, ''));
  expect(printed).toContain('<b>$</b>200.00');
  expect(pdf.text).not.toMatch(/root:|redis:\/\//);
  expect(calls).toBe(0);
});

test('when markdown holds markup, then no request is made, and no image is drawn', async () => {
  const bodyMarkdown = [...markup(), `![x](${at}/m)`, `![x][r]\n\n[r]: ${at}/n`, `<${at}/o>`].join('\n\n');
  const pdf = await renderer.read(anInvoice({ bodyMarkdown }));

  expect(calls).toBe(0);
  expect(pdf.bytes.toString('latin1')).not.toContain('/Subtype /Image');
  expect(pdf.text).not.toMatch(/root:x|redis:\/\//);
  expect(pdf.warnings).toEqual(['bodyMarkdown: images are not printed, only their descriptions']);
});

describe('markdown', () => {
  test('when it has headings, lists, tables and quotes, then they are laid out', async () => {
    const bodyMarkdown =
      '# Scope\n\n- one\n- two\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n> wise\n\n**bold** and *slanted* `code`';
    const pdf = await renderer.read(anInvoice({ bodyMarkdown }));

    expect(pdf.text).toMatch(/Scope.*one.*two.*A B 1 2.*wise.*bold and slanted code/);
    expect(pdf.text).not.toMatch(/[#|*>`]/);
  });

  test('when it has links, then only those to the web and to mailboxes are links', async () => {
    const bodyMarkdown =
      '[a](https://a.example/) [b](mailto:b@b.example) [c](javascript:alert(1)) [d](data:text/html,x) [e](file:///etc/passwd) [f](//f.example) [g](vbscript:x)';
    const pdf = await renderer.read(anInvoice({ bodyMarkdown }));

    expect(pdf.pages.flatMap(({ links }) => links)).toEqual(['https://a.example/', 'mailto:b@b.example']);
    expect(pdf.text).toMatch(/a b c d e f g/);
  });

  test('when it has front matter that other parsers would run, then it is printed as text', async () => {
    const bodyMarkdown = "---js\n(() => require('fs'))()\n---\nafter";

    expect((await renderer.read(anInvoice({ bodyMarkdown }))).text).toContain("require('fs')");
  });

  test.each([
    ['300 nested lists', () => Array.from({ length: 300 }, (_none, depth) => `${' '.repeat(depth)}- x`).join('\n')],
    ['nested quotes', () => '>'.repeat(50_000)],
    ['open brackets', () => '['.repeat(90_000)],
    ['open emphasis', () => '*a '.repeat(30_000)],
    ['a table of one letter', () => `|a|\n|-|\n${'|b|\n'.repeat(20_000)}`],
    ['back ticks', () => '`'.repeat(90_000)],
  ])(
    'when it is a bomb of %s, then there is an outcome, and another document is printed meanwhile',
    async (_what, bomb) => {
      const bombed = renderer.print(anInvoice({ bodyMarkdown: bomb() })).catch((error: unknown) => error);
      const neighbour = await renderer.read(anInvoice({ number: 'NEIGHBOUR' }));

      expect(neighbour.text).toContain('NEIGHBOUR');
      const outcome = await bombed;
      if (!(outcome as { bytes?: Buffer }).bytes) expect(outcome).toMatchObject({ status: expect.any(Number) });
    },
  );
});

describe('the browser itself', () => {
  test('when a document asks for the network, files or scripts, then it gets none of them', async () => {
    const browser = await openTestBrowser({ pages: 1 });
    const html = `<!doctype html><style>@media screen{html{display:none}} p{color:red}</style><p>text</p>${markup().join('')}
      <script>document.body.textContent = 'scripted'</script><iframe src="javascript:top.document.write(1)"></iframe>`;
    const pdf = await browser.print(html, { deadlineAt: Date.now() + 20_000, signal: new AbortController().signal });
    await browser.close();

    expect(calls).toBe(0);
    expect(pdf.toString('latin1')).not.toContain('scripted');
  });

  test('when a page is used again and again, then its policy still blocks style sheets, frames and base URLs of the document', async () => {
    const browser = await openTestBrowser({ pages: 1 });
    const smuggled = [
      '<link rel=stylesheet href="data:text/css,p{display:none}">',
      '<iframe src="data:text/html,<h1>framed</h1>"></iframe>',
      '<base href="https://evil.example/"><a href="x">link</a>',
    ];
    for (const text of [...smuggled, ...smuggled]) {
      const html = `<!doctype html><style>@media screen{html{display:none}}</style>${text}<p>plain</p>`;
      const pdf = await browser.print(html, { deadlineAt: Date.now() + 20_000, signal: new AbortController().signal });
      const read = await readPdf(pdf);

      expect(read.text).toMatch(/plain/);
      expect(read.text).not.toMatch(/framed/);
      expect(read.pages.flatMap(({ links }) => links)).toEqual([]);
    }
    await browser.close();
  });
});

test('when a job has a value that no gateway accepts, then it is rejected and not printed', async () => {
  const smuggled = { ...anInvoice(), brandColor: 'red}</style><script>' } as PdfDocument;

  await expect(renderer.print(smuggled)).rejects.toMatchObject({ status: 422 });
});
