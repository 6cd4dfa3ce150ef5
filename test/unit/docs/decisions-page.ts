// Makes the index page of the decisions, docs/adr/README.md, from their titles: `npm run docs`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = 'docs/adr';
export const DECISIONS = `${FOLDER}/README.md`;

const INTRODUCTION = `<!-- Made by "npm run docs" from the titles of the pages; a test compares them. Do not edit by hand. -->
# Decisions

Architecture decision records: one page for each decision that a newcomer would question, with its context, what was chosen, and what was not.
An accepted page is not rewritten: a new page supersedes it and both say so.

| Number | Decision |
|---|---|
`;

export function decisionsPage(): string {
  const pages = readdirSync(FOLDER).filter((name) => /^\d{4}-.*\.md$/.test(name));
  const rows = pages.toSorted().map((page) => {
    const [, title] = /^# (?:\d+\. )?(.+)$/m.exec(readFileSync(join(FOLDER, page), 'utf8')) ?? [];
    return `| ${Number(page.slice(0, 4))} | [${title}](${page}) |\n`;
  });
  return INTRODUCTION + rows.join('');
}
