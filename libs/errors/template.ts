// Error texts with named gaps: `Only {left} of {number} is left to bill`. The compiler knows which parameters a text has.

/** A value that a text contains. A list is printed with commas. */
export type ParamValue = string | number | readonly string[];

export type Params = Readonly<Record<string, ParamValue>>;

/**
 * The name in a gap. Its form may follow: `{records|words}` prints `time_entries` as `time entries`, `{pages|number}` prints 1234 as 1,234,
 * `{days|some}` prints the first ten.
 */
type NameOf<Gap extends string> = Gap extends `${infer Name}|${string}` ? Name : Gap;

/** The names of the gaps of a text. */
export type GapsOf<Text extends string> = Text extends `${string}{${infer Gap}}${infer Rest}`
  ? NameOf<Gap> | GapsOf<Rest>
  : never;

const GAP = /\{(\w+)(?:\|(\w+))?\}/g;

/** Returns the names of the gaps of a text. */
export function gapsOf(template: string): string[] {
  return [...template.matchAll(GAP)].map(([, name = '']) => name);
}

/** Returns the text with its gaps filled. */
export function fill(template: string, params: Params): string {
  return template.replaceAll(GAP, (_gap, name: string, form?: string) => printed(params[name] as ParamValue, form));
}

/** The most values of a list that a text names. */
const NAMED_MAX = 10;

function someOf(values: readonly string[]): string {
  return values.slice(0, NAMED_MAX).join(', ') + (values.length > NAMED_MAX ? ' and others' : '');
}

function printed(value: ParamValue, form: string | undefined): string {
  if (form === 'number') return Number(value).toLocaleString('en');
  if (form === 'some') return someOf(value as readonly string[]);
  const text = Array.isArray(value) ? value.join(', ') : String(value);
  return form === 'words' ? text.replaceAll('_', ' ') : text;
}
