// Footnotes in markdown: `[^1]` in a text, and `[^1]: the note` somewhere below. They are printed at the end, in the
// order of the references.
import type { MarkedExtension, Tokens } from 'marked';

interface Footnote extends Tokens.Generic {
  id: string;
}

/** A footnote reaches to an empty line or the next footnote. */
const DEFINITION = /^\[\^([^\]\s]{1,100})\]:[ \t]*([^\n]+(?:\n(?!\[\^|[ \t]*\n)[^\n]+)*)(?:\n+|$)/;
const REFERENCE = /^\[\^([^\]\s]{1,100})\]/;

/** The footnotes of the text that is laid out. Texts come one after the other, so one set is enough. */
let defined = new Map<string, Footnote>();
let referred: string[] = [];

export const footnotes: MarkedExtension = {
  hooks: {
    preprocess(markdown) {
      defined = new Map();
      referred = [];
      return markdown;
    },
    postprocess(html) {
      const notes = referred.map((id) => `<li>${String(defined.get(id)?.['html'])}</li>`);
      return notes.length > 0 ? `${html}<hr><ol>${notes.join('')}</ol>` : html;
    },
  },
  walkTokens(token) {
    if (token.type === 'footnote' && !defined.has(token['id'] as string))
      defined.set(token['id'] as string, token as Footnote);
  },
  extensions: [
    {
      name: 'footnote',
      level: 'block',
      start(source) {
        const at = source.search(/\n\[\^[^\]\s]+\]:/);
        return at < 0 ? undefined : at + 1;
      },
      tokenizer(source) {
        const [raw, id, text = ''] = DEFINITION.exec(source) ?? [];
        if (raw === undefined) return undefined;
        return { type: 'footnote', raw, id, tokens: this.lexer.inlineTokens(text) };
      },
      childTokens: ['tokens'],
      renderer(token) {
        token['html'] = this.parser.parseInline(token.tokens ?? []);
        return '';
      },
    },
    {
      name: 'footnoteReference',
      level: 'inline',
      start: (source) => source.indexOf('[^'),
      tokenizer(source) {
        const [raw, id] = REFERENCE.exec(source) ?? [];
        return raw === undefined ? undefined : { type: 'footnoteReference', raw, id };
      },
      renderer(token) {
        const id = String(token['id']);
        if (!defined.has(id)) return token.raw;
        if (!referred.includes(id)) referred.push(id);
        return `<sup>${referred.indexOf(id) + 1}</sup>`;
      },
    },
  ],
};
