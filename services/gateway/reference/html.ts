// A template tag that escapes what it is given, so that no text of the document can become markup.
import { escape as escapeHtml } from 'es-toolkit/string/escape';
import { marked } from 'marked';

/** Markup that is already safe. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = Markup | string | number | undefined | false | readonly Part[];

export function html(literals: TemplateStringsArray, ...parts: Part[]): Markup {
  return new Markup(literals.reduce((before, literal, index) => before + written(parts[index - 1]) + literal));
}

function written(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (Array.isArray(part)) return part.map(written).join('');
  return part === undefined || part === false ? '' : escapeHtml(String(part));
}

// Only texts of our own come here; marked itself writes no attributes from them.
export function markdown(text: string): Markup {
  return new Markup(marked.parse(text, { async: false, gfm: true }));
}
