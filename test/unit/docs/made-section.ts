// A section of a page that `npm run docs` makes: it stands between two marks, and the rest of the page is written by hand.
import { readFileSync } from 'node:fs';

const END = '<!-- The end of what "npm run docs" makes. -->';

/**
 * Returns the page with this section.
 * @param from the source that the first mark names.
 * @throws Error when the page has no such section.
 */
export function withMadeSection(
  page: string,
  { from, section, text = readFileSync(page, 'utf8') }: { from: string; section: string; text?: string | undefined },
): string {
  const begin = `<!-- Made by "npm run docs" from ${from}; a test compares them. -->`;
  const [start, end] = [text.indexOf(begin), text.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`${page} has no section between the marks of "npm run docs"`);
  return `${text.slice(0, start)}${begin}\n\n${section}\n\n${text.slice(end)}`;
}
