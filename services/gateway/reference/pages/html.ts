// A template tag that escapes what it is given, so that no text can become markup.
import { escape as escapeHtml } from 'es-toolkit/string/escape';

/** Markup that is already safe. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = Markup | string | readonly Part[];

export function html(literals: TemplateStringsArray, ...parts: Part[]): Markup {
  return new Markup(literals.reduce((before, literal, index) => before + written(parts[index - 1] ?? '') + literal));
}

function written(part: Part): string {
  if (part instanceof Markup) return part.text;
  return typeof part === 'string' ? escapeHtml(part) : part.map(written).join('');
}
