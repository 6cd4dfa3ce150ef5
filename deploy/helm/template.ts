// Writes an object as YAML in which some values are expressions of Helm.
import { Document, Scalar, visit } from 'yaml';

/** The expressions of one object. Each stands in it as a mark, which is replaced after the object is written. */
export interface Expressions {
  /** Returns the mark of an expression that is a text, or a part of one. */
  text(expression: string): string;
  /** Returns the mark of an expression that is a number, in the place of a value. */
  number(expression: string): string;
  /** Returns the mark of an expression whose result is YAML, in the place of a value. */
  yaml(expression: string): string;
  /**
   * Returns a key, or an item of a list, in whose place these lines stand. A key has the value null. In a line LEVEL is the number of
   * spaces before it, and INNER two more.
   */
  lines(lines: readonly string[]): string;
  /** Returns a key that is there when the expression is set, with its YAML. It has the value null. */
  optional(name: string, expression: string): string;
  /** Returns the object as YAML with the expressions in their places. */
  write(object: object): string;
}

interface Mark {
  kind: 'text' | 'number' | 'yaml' | 'lines';
  lines: readonly string[];
}

const ALONE = /^(\s*)(- )?(?:([^\s⟦]+): )?"?⟦(\d+)⟧"?(?:: null)?$/;
const WITHIN = /⟦(\d+)⟧/g;

export function expressions(): Expressions {
  const marks: Mark[] = [];
  const mark = (kind: Mark['kind'], lines: readonly string[]) => `⟦${marks.push({ kind, lines }) - 1}⟧`;
  const text = (expression: string) => mark('text', [`{{ ${expression} }}`]);
  const lines = (given: readonly string[]) => mark('lines', given);

  /** Returns a line of the object with its expressions. */
  function written(line: string): string[] {
    const [, indent = '', dash = '', key, id] = ALONE.exec(line) ?? [];
    const alone = marks[Number(id)];
    // Without quotes, which would make it a text.
    if (alone?.kind === 'number') return [`${indent}${dash}${key}: ${alone.lines[0]}`];
    if (alone?.kind === 'yaml') {
      const inner = indent.length + dash.length + 2;
      return [`${indent}${dash}${key}:`, `${indent}  {{- ${alone.lines[0]} | nindent ${inner} }}`];
    }
    if (alone?.kind === 'lines') return alone.lines.map((one) => indent + indented(one, indent.length));
    return [line.replace(WITHIN, (_, one) => marks[Number(one)]?.lines[0] ?? '')];
  }

  return {
    text,
    number: (expression) => mark('number', [`{{ ${expression} }}`]),
    lines,
    yaml: (expression) => mark('yaml', [expression]),
    optional: (name, expression) =>
      lines([`{{- with ${expression} }}`, `${name}:`, '  {{- toYaml . | nindent INNER }}', '{{- end }}']),
    write(object) {
      // Braces in a manifest belong to an expression of Prometheus, and stay as they are.
      const literal = (value: string) => value.replaceAll('{{', text('"{{"')).replaceAll('}}', text('"}}"'));
      const escaped = JSON.parse(JSON.stringify(object), (_, one) => (typeof one === 'string' ? literal(one) : one));
      // Helm reads YAML 1.1, where a plain "yes" is no text.
      const document = new Document(escaped, { aliasDuplicateObjects: false, schema: 'yaml-1.1' });
      // An expression at the beginning of a plain text would be read as a map.
      visit(document, {
        Scalar(_, node) {
          if (typeof node.value === 'string' && node.value.includes('⟦')) node.type = Scalar.QUOTE_DOUBLE;
        },
      });
      return document.toString({ lineWidth: 0 }).split('\n').flatMap(written).join('\n');
    },
  };
}

function indented(line: string, spaces: number): string {
  return line.replace('LEVEL', String(spaces)).replace('INNER', String(spaces + 2));
}
