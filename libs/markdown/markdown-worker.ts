// Turns Markdown into harmless HTML in a thread of its own, so that a text made to be slow stops only that thread.
import { parentPort } from 'node:worker_threads';
import { marked } from 'marked';
import sanitizeHtml from 'sanitize-html';
import { footnotes } from './footnotes.ts';

// Images are not allowed, because they would be a way out. Their description is printed instead. There are two classes
// of Billhook's own, no other, and no ids and styles, because the text must not style the document around it.
const ALLOWED: sanitizeHtml.IOptions = {
  allowedTags: [
    'h1 h2 h3 h4 h5 h6 p br hr blockquote pre code ul ol li strong b em i del s sub sup a span',
    'table thead tbody tr th td',
  ]
    .join(' ')
    .split(' '),
  allowedAttributes: { a: ['href'], ol: ['start'], th: ['align'], td: ['align'] },
  allowedClasses: { li: ['task'], span: ['picture'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  nestingLimit: 100,
  transformTags: {
    // The document has its own headings above these.
    h1: 'h2',
    h2: 'h3',
    h3: 'h4',
    h4: 'h5',
    h5: 'h6',
    img: (_name, { alt = '' }) => ({ tagName: 'span', attribs: { class: 'picture' }, text: alt }),
  },
};

marked.use(footnotes, {
  renderer: {
    // The boxes are text, which every face prints. A form's field could be filled in.
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    // The box replaces the bullet.
    listitem({ task, tokens }) {
      return `<li${task ? ' class="task"' : ''}>${this.parser.parse(tokens)}</li>\n`;
    },
  },
});

parentPort?.on('message', ({ id, markdown }: { id: number; markdown: string }) => {
  try {
    const html = marked.parse(markdown, { async: false, gfm: true, breaks: true });
    parentPort?.postMessage({ id, html: sanitizeHtml(html, ALLOWED), spentMs: spentMs() });
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    parentPort?.postMessage({ id, failure, spentMs: spentMs() });
  }
});

// The time that a text takes counts from here.
parentPort?.postMessage({ spentMs: spentMs() });

/** Returns the processor time of this thread. */
function spentMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
