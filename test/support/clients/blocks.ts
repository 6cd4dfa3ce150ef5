// The code blocks of a guide, as a newcomer pastes them into one file.
import { readFileSync } from 'node:fs';

/** @returns the blocks of one language in their order, with each text of `replaced` exchanged. @throws when the guide lacks one of them. */
export function programOf(guide: string, language: string, replaced: Record<string, string> = {}): string {
  const blocks = readFileSync(guide, 'utf8').matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  let program = [...blocks].map(([, code]) => code).join('\n');
  for (const [text, other] of Object.entries(replaced)) {
    if (!program.includes(text)) throw new Error(`${guide} has no block of ${language} with ${text}`);
    program = program.replaceAll(text, other);
  }
  return program;
}
