// The part of the page about errors that lists all codes, made from their declarations.
import { ERROR_GROUPS } from '#libs/errors/declared.ts';
import { PROBLEM_GROUPS } from '#libs/errors/problems.ts';
import { gapsOf } from '#libs/errors/template.ts';
import { withMadeSection } from './made-section.ts';

export const ERRORS_PAGE = 'docs/errors.md';

/** The page with its lists as the declarations are now. @throws Error when the page has no such section. */
export function errorsPage(text?: string): string {
  return withMadeSection(ERRORS_PAGE, { from: 'libs/errors', section: section(), text });
}

function section(): string {
  return [
    '## Codes of errors',
    'A name in braces is a parameter. 404 of a single read has the text without "or access denied", under the same code.',
    ...Object.entries(ERROR_GROUPS).flatMap(([title, errors]) => [`### ${title}`, errorsTable(errors)]),
    '## Codes of fields',
    'The code says what is wrong with a field, in `problems`. Some texts are written in other words where a field has a form of its own.',
    ...Object.entries(PROBLEM_GROUPS).flatMap(([title, problems]) => [`### ${title}`, problemsTable(problems)]),
  ].join('\n\n');
}

interface Declared {
  text: string;
  extra?: object;
}

function errorsTable(errors: Readonly<Record<string, Declared & { status: number; advice: string }>>): string {
  const rows = Object.entries(errors).map(([code, { status, text, advice, extra = {} }]) => {
    const more = Object.keys(extra).map((name) => `\`${name}\``);
    const also = more.length > 0 ? ` Also: ${more.join(', ')}.` : '';
    return `| \`${code}\` | ${status} | ${inCell(text)} | ${advice}${also} |`;
  });
  return ['| Code | Status | Text | What to do |', '|---|---|---|---|', ...rows].join('\n');
}

function problemsTable(problems: Readonly<Record<string, Declared>>): string {
  const rows = Object.entries(problems).map(([code, { text, extra = {} }]) => {
    const params = new Set([...gapsOf(text).filter((name) => name !== 'field'), ...Object.keys(extra)]);
    const names = [...params].map((name) => `\`${name}\``).join(', ');
    return `| \`${code}\` | ${inCell(text)} | ${names} |`;
  });
  return ['| Code | Text | Parameters |', '|---|---|---|', ...rows].join('\n');
}

/** Returns a text without the forms of its gaps, which are for the code. */
function inCell(text: string): string {
  return text.replaceAll(/\{(\w+)\|\w+\}/g, '{$1}');
}
