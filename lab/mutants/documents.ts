// Mutants of printing: what a document could do, and what becomes of it when parts die.
import type { Mutant } from './mutant.ts';

const WALLS = 'test/service/renderer/walls.test.ts';
const TOOL = 'test/service/gateway/pdf-tool.test.ts';

export const documentMutants: Mutant[] = [
  {
    gone: 'scripts are off',
    edits: [
      {
        file: 'services/renderer/browser/warm-page.ts',
        text: "'Emulation.setScriptExecutionDisabled', { value: true }",
        instead: "'Emulation.setScriptExecutionDisabled', { value: false }",
      },
    ],
    oracle: { file: WALLS, test: 'when a document asks whether scripts would run' },
  },
  {
    gone: 'scripts are off, and the policy',
    edits: [
      {
        file: 'services/renderer/browser/warm-page.ts',
        text: "'Emulation.setScriptExecutionDisabled', { value: true }",
        instead: "'Emulation.setScriptExecutionDisabled', { value: false }",
      },
      {
        file: 'services/renderer/browser/warm-page.ts',
        text: "\"default-src 'none'; img-src data:;",
        instead: '"img-src *;',
      },
    ],
    oracle: { file: WALLS, test: 'when a document has scripts in every place' },
  },
  {
    gone: 'the policy of a page',
    edits: [
      {
        file: 'services/renderer/browser/warm-page.ts',
        text: 'navigate(session, EMPTY)',
        instead: "navigate(session, 'data:text/html,')",
      },
    ],
    oracle: { file: WALLS, test: 'when a document has a style sheet or a frame of its own' },
  },
  {
    gone: 'the empty network of Chromium',
    edits: [
      {
        file: 'services/renderer/browser/isolation.ts',
        text: 'const wrapper = [...withoutNetwork, ',
        instead: 'const wrapper = [',
      },
    ],
    oracle: { file: WALLS, test: 'when the machine allows an empty network' },
  },
  {
    gone: 'HTML is escaped, in one place of the template',
    edits: [
      {
        file: 'services/renderer/document/templates/document.ejs',
        text: '<%= view.intro %>',
        instead: '<%- view.intro %>',
      },
    ],
    oracle: {
      file: 'test/service/renderer/hostile.test.ts',
      test: 'when texts hold markup, then it is printed letter by letter',
    },
  },
  {
    gone: 'the list of what markdown may become',
    edits: [
      {
        file: 'services/renderer/document/markdown-worker.ts',
        text: 'html: sanitizeHtml(html, ALLOWED)',
        instead: 'html',
      },
    ],
    oracle: { file: 'test/unit/renderer/markdown.test.ts', test: 'then only allowed elements and attributes remain' },
  },
  {
    gone: 'the limit of a text that is made to be slow',
    edits: [
      {
        file: 'services/renderer/document/markdown.ts',
        text: 'const LIMIT_MS = 2_000;',
        instead: 'const LIMIT_MS = 200_000;',
      },
    ],
    oracle: { file: 'test/unit/renderer/markdown.test.ts', test: 'then it is rejected after two seconds' },
  },
  {
    gone: 'the account, in the memory of images',
    edits: [{ file: 'services/renderer/images/fetch-image.ts', text: '{accountId} ', instead: '{use} ' }],
    oracle: { file: 'test/service/renderer/images.test.ts', test: 'then it is cached, for this account only' },
  },
  {
    gone: 'images are fetched through the guard',
    edits: [
      {
        file: 'services/renderer/images/fetch-image.ts',
        text: 'const target = judged(address, outbound);',
        instead: 'const target = { url: new URL(address), httpAgent: undefined, httpsAgent: undefined };',
      },
    ],
    oracle: { file: 'test/system/hostile/ssrf.test.ts', test: 'when the whole system is attacked through images' },
  },
  {
    gone: 'the deadline of a document that waits',
    edits: [
      {
        file: 'services/renderer/render-document.ts',
        text: "if (payload.deadlineAt - agreedTime() < LEAST_MS) return end('expired');",
        instead: '',
      },
    ],
    oracle: { file: 'test/service/renderer/render-document.test.ts', test: 'when a document arrives too late' },
  },
  {
    gone: 'a document that the queue lost is put in again',
    edits: [
      {
        file: 'services/gateway/printing/print-document.ts',
        text: '{ deadlineAt, signal, recover }',
        instead: '{ deadlineAt, signal }',
      },
    ],
    oracle: { file: TOOL, test: 'when the response is lost' },
  },
  {
    gone: 'a reply whose notice was lost is looked for',
    edits: [
      {
        file: 'libs/jobs/replies.ts',
        text: 'if (exists === 1) waiter?.look();',
        instead: 'if (exists === 1) continue;',
      },
    ],
    oracle: { file: 'test/service/libs/replies.test.ts', test: 'when the notice of a reply is lost' },
  },
  {
    gone: 'a large reply stays until it was read',
    edits: [{ file: 'libs/jobs/replies.ts', text: 'redis.getBuffer(', instead: 'redis.getdelBuffer(' }],
    oracle: { file: 'test/service/libs/replies.test.ts', test: 'when the response with a large reply is lost' },
  },
  {
    gone: 'a job outlives its worker',
    edits: [
      { file: 'libs/jobs/worker.ts', text: 'const MAX_STALLED_COUNT = 3;', instead: 'const MAX_STALLED_COUNT = 0;' },
    ],
    oracle: { file: 'test/service/libs/worker.test.ts', test: 'when two workers vanish in the middle of one job' },
  },
  {
    gone: 'a cut document is no document',
    edits: [
      {
        file: 'services/gateway/printing/send-pdf.ts',
        text: "|| !bytes.toString('latin1', bytes.length - 8).includes('%%EOF')",
        instead: '',
      },
    ],
    oracle: { file: TOOL, test: 'then the caller gets an error and no part of it' },
  },
  {
    gone: "one account's share of the renderers",
    edits: [
      {
        file: 'services/gateway/printing/admission.ts',
        text: 'waiting.of(accountId).documents >= perAccount',
        instead: 'waiting.of(accountId).documents >= Infinity',
      },
    ],
    oracle: { file: TOOL, test: 'when one account has its share in flight' },
  },
  {
    gone: 'room that is reserved until a body is read',
    edits: [
      {
        file: 'services/gateway/printing/waiting-documents.ts',
        text: 'waiting.size + reserved.size',
        instead: 'waiting.size',
      },
    ],
    oracle: { file: 'test/unit/gateway/admission.test.ts', test: 'when more arrive at once than there is room for' },
  },
];
